package duetbench.hook;

import java.util.Collection;
import java.util.Collections;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.infra.IterationParams;
import org.openjdk.jmh.profile.InternalProfiler;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.Result;

/** Makes each iteration of JMH a slice of the trial. JMH finds it by name: {@code -prof duetbench.hook.DuetProfiler}. */
public final class DuetProfiler implements InternalProfiler {
    private final Clock clock = new Clock();
    private Lockstep lockstep;
    private Memory memory;
    private boolean open;

    /** Does nothing yet: JMH makes one in the JVM that only starts the measured one, too. */
    public DuetProfiler() {}

    @Override
    public String getDescription() {
        return "measures each iteration in lock-step with another version";
    }

    @Override
    public void beforeIteration(BenchmarkParams benchmark, IterationParams iteration) {
        if (memory == null) {
            lockstep = Lockstep.fromEnvironment();
            memory = new Memory();
        }
        if (lockstep == null) {
            return;
        }
        // Slow work belongs where the peer is not being measured: into the own turn, or else before both begin.
        boolean ownTurn = lockstep.isInterleaved();
        if (!ownTurn) {
            memory.begin();
        }
        open = lockstep.begin();
        if (open) {
            if (ownTurn) {
                memory.begin();
            }
            clock.open();
        }
    }

    @Override
    public Collection<? extends Result<?>> afterIteration(
            BenchmarkParams benchmark, IterationParams iteration, IterationResult result) {
        if (open) {
            Slice slice = lockstep.slice();
            clock.close(slice);
            memory.end(slice);
            lockstep.end(takeScore(slice, benchmark, result) ? slice : null);
        }
        return Collections.emptyList();
    }

    /** Takes JMH's own count and time; false when its score is no time. */
    private static boolean takeScore(Slice slice, BenchmarkParams benchmark, IterationResult result) {
        if (result.getRawPrimaryResults().isEmpty()) {
            return false; // an exception ended it, which JMH itself prints
        }
        double score = result.getPrimaryResult().getScore();
        double nanos = Score.nanosPerOperation(benchmark.getMode(), benchmark.getTimeUnit(), score);
        if (!Score.isTime(nanos)) {
            System.err.println("duet: iteration " + slice.number + " of " + benchmark.getBenchmark() + " has the score " + score
                    + ", which is no time: make its iterations longer");
            return false;
        }
        slice.operations = Math.max(1, result.getMetadata().getMeasuredOps());
        slice.wallNs = Math.max(1, Math.round(nanos * slice.operations));
        // Several threads run on without being measured until all have begun, and again until all have ended.
        double all = Math.max(slice.operations, result.getMetadata().getAllOps());
        slice.bytes = Math.round(slice.bytes / all * slice.operations);
        return true;
    }
}
