package duetbench.hook;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Collection;
import java.util.Collections;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.infra.IterationParams;
import org.openjdk.jmh.profile.InternalProfiler;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.Result;

/** Takes the time of whole iterations while benchmarks are listed. */
public final class Stopwatch implements InternalProfiler {
    /** Where each end of an iteration is written, so that a slow one is not taken for one that hangs. */
    static ListFile list;
    private static long start;
    private static long nanos = Long.MAX_VALUE;

    /** The time of the shortest iteration since this was asked last. */
    static long nanos() {
        long shortest = nanos;
        nanos = Long.MAX_VALUE;
        return shortest;
    }

    @Override
    public String getDescription() {
        return "takes the time of whole iterations";
    }

    @Override
    public void beforeIteration(BenchmarkParams benchmark, IterationParams iteration) {
        start = System.nanoTime();
    }

    @Override
    public Collection<? extends Result<?>> afterIteration(
            BenchmarkParams benchmark, IterationParams iteration, IterationResult result) {
        nanos = Math.min(nanos, Math.max(1, System.nanoTime() - start));
        try {
            list.line("iteration");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return Collections.emptyList();
    }
}
