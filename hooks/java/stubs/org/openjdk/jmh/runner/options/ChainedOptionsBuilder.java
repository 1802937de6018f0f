package org.openjdk.jmh.runner.options;

import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.profile.Profiler;

public interface ChainedOptionsBuilder {
    Options build();

    ChainedOptionsBuilder include(String regexp);

    ChainedOptionsBuilder mode(Mode mode);

    ChainedOptionsBuilder forks(int count);

    ChainedOptionsBuilder warmupIterations(int count);

    ChainedOptionsBuilder measurementIterations(int count);

    ChainedOptionsBuilder measurementTime(TimeValue time);

    ChainedOptionsBuilder addProfiler(Class<? extends Profiler> profiler);

    ChainedOptionsBuilder verbosity(VerboseMode mode);

    ChainedOptionsBuilder shouldFailOnError(boolean value);

    ChainedOptionsBuilder param(String name, String... values);
}
