package org.openjdk.jmh.results;

import org.openjdk.jmh.infra.BenchmarkParams;

@SuppressWarnings("rawtypes")
public abstract class RunResult {
    public abstract Result getPrimaryResult();

    public abstract BenchmarkParams getParams();
}
