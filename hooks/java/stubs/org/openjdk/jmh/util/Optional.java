package org.openjdk.jmh.util;

public abstract class Optional<T> {
    public abstract T orElse(T other);
}
