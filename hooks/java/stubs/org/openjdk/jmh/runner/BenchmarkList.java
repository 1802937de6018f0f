package org.openjdk.jmh.runner;

import java.util.List;
import java.util.Set;
import org.openjdk.jmh.runner.format.OutputFormat;

public abstract class BenchmarkList {
    public static BenchmarkList defaultList() {
        throw new AssertionError();
    }

    public abstract Set<BenchmarkListEntry> getAll(OutputFormat out, List<String> excludes);
}
