package org.openjdk.jmh.runner;

import java.util.Collection;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.options.Options;

public class Runner {
    public Runner(Options options) {}

    public Collection<RunResult> run() throws RunnerException {
        throw new AssertionError();
    }
}
