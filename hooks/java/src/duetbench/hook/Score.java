package duetbench.hook;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Mode;

/** Time of an operation by JMH's score. */
final class Score {
    private Score() {}

    /** Nanoseconds for one operation; not finite or not positive when the score says nothing. */
    static double nanosPerOperation(Mode mode, TimeUnit unit, double score) {
        double unitNs = unit.toNanos(1);
        return mode == Mode.Throughput ? unitNs / score : score * unitNs;
    }

    /** Whether that is a time at all. */
    static boolean isTime(double nanos) {
        return nanos > 0 && nanos < Double.POSITIVE_INFINITY;
    }
}
