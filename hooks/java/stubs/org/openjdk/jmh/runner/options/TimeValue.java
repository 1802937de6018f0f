package org.openjdk.jmh.runner.options;

public abstract class TimeValue {
    public static TimeValue milliseconds(long time) {
        throw new AssertionError();
    }
}
