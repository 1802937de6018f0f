package org.example.collector;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/** An operation computes a little and allocates once; what it allocates lives until so many more have been allocated. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(jvmArgs = {"-Xms512m", "-Xmx512m", "-Xmn32m"})
public class Collector {
    private static final int ROUNDS = 100;
    private static final int BYTES = 256;
    /** Header of an array. */
    private static final int HEADER = 16;

    /** Some die at once, some are copied by a collection or two, and all live to become old. */
    public enum Lives {
        SHORT(1 << 8),
        MIDDLING(1 << 13),
        LONG(1 << 18);

        final int kept;

        Lives(int kept) {
            this.kept = kept;
        }
    }

    /** Bytes in percent of the baseline's, and work. */
    public enum Change {
        BYTES50(50, 100),
        BYTES75(75, 100),
        BYTES125(125, 100),
        BYTES200(200, 100),
        TRADE(50, 110);

        final int bytes;
        final int work;

        Change(int bytes, int work) {
            this.bytes = bytes;
            this.work = work;
        }
    }

    @Param public Lives lives;
    @Param public Change change;

    private byte[][] ring;
    private int next;
    private int size;
    private int rounds;
    private long value = 1;

    @Setup
    public void setUp() {
        boolean changed = Version.candidate();
        size = BYTES * (changed ? change.bytes : 100) / 100 - HEADER;
        rounds = ROUNDS * (changed ? change.work : 100) / 100;
        ring = new byte[lives.kept][];
    }

    @Benchmark
    public long allocate() {
        long x = value;
        for (int i = 0; i < rounds; i++) {
            x = x * 6364136223846793005L + 1442695040888963407L;
        }
        value = x;
        next = (next + 1) & (ring.length - 1);
        ring[next] = new byte[size];
        return x;
    }
}
