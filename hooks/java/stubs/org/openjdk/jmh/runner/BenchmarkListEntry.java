package org.openjdk.jmh.runner;

import java.util.Collection;
import java.util.Map;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.util.Optional;

public abstract class BenchmarkListEntry {
    public abstract BenchmarkListEntry cloneWith(Mode mode);

    public abstract String getUsername();

    public abstract Mode getMode();

    public abstract int[] getThreadGroups();

    public abstract Optional<Integer> getThreads();

    public abstract Optional<Integer> getWarmupIterations();

    public abstract Optional<Integer> getMeasurementBatchSize();

    public abstract Optional<Integer> getOperationsPerInvocation();

    public abstract Optional<String> getJvm();

    public abstract Optional<Collection<String>> getJvmArgs();

    public abstract Optional<Collection<String>> getJvmArgsAppend();

    public abstract Optional<Collection<String>> getJvmArgsPrepend();

    public abstract Optional<Map<String, String[]>> getParams();
}
