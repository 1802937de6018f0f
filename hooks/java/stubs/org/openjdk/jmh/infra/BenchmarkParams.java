package org.openjdk.jmh.infra;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Mode;

public abstract class BenchmarkParams {
    public abstract String getBenchmark();

    public abstract Mode getMode();

    public abstract TimeUnit getTimeUnit();
}
