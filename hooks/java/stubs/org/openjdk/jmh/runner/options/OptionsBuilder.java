package org.openjdk.jmh.runner.options;

import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.profile.Profiler;

public class OptionsBuilder implements ChainedOptionsBuilder {
    @Override
    public Options build() {
        throw new AssertionError();
    }

    @Override
    public ChainedOptionsBuilder include(String regexp) {
        throw new AssertionError();
    }

    @Override
    public ChainedOptionsBuilder mode(Mode mode) {
        throw new AssertionError();
    }

    @Override
    public ChainedOptionsBuilder forks(int count) {
        throw new AssertionError();
    }

    @Override
    public ChainedOptionsBuilder warmupIterations(int count) {
        throw new AssertionError();
    }

    @Override
    public ChainedOptionsBuilder measurementIterations(int count) {
        throw new AssertionError();
    }

    @Override
    public ChainedOptionsBuilder measurementTime(TimeValue time) {
        throw new AssertionError();
    }

    @Override
    public ChainedOptionsBuilder addProfiler(Class<? extends Profiler> profiler) {
        throw new AssertionError();
    }

    @Override
    public ChainedOptionsBuilder verbosity(VerboseMode mode) {
        throw new AssertionError();
    }

    @Override
    public ChainedOptionsBuilder shouldFailOnError(boolean value) {
        throw new AssertionError();
    }

    @Override
    public ChainedOptionsBuilder param(String name, String... values) {
        throw new AssertionError();
    }
}
