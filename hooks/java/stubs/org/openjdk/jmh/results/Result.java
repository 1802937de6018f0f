package org.openjdk.jmh.results;

public abstract class Result<T extends Result<T>> {
    public abstract double getScore();
}
