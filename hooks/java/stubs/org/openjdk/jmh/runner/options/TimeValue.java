package org.openjdk.jmh.runner.options;

import java.util.concurrent.TimeUnit;

public abstract class TimeValue {
    public static TimeValue milliseconds(long time) {
        throw new AssertionError();
    }

    public abstract long convertTo(TimeUnit unit);
}
