package planted;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Threads;
import org.openjdk.jmh.annotations.Warmup;

/** Benchmarks for cases that JMH's own samples do not show. */
@BenchmarkMode(Mode.AverageTime)
public class Planted {
    /** A thousand bytes and the head of an array. */
    @Benchmark
    public byte[] allocates() {
        return new byte[1000];
    }

    @Benchmark
    public int fails() {
        throw new IllegalStateException("planted\tfailure");
    }

    @Benchmark
    @Threads(Threads.MAX)
    @Fork(value = 3, jvm = "java", jvmArgs = {"-Xmx100m", "-Dplanted=a b"}, jvmArgsPrepend = "-Xint", jvmArgsAppend = "-ea")
    @Warmup(iterations = 2, time = 30, timeUnit = TimeUnit.MILLISECONDS)
    @Measurement(iterations = 4, time = 50, timeUnit = TimeUnit.MILLISECONDS)
    public int configured() {
        return 1;
    }

    /** A parameter whose value is only given when it is run. */
    @State(Scope.Benchmark)
    public static class Blank {
        @Param({})
        public String word;
    }

    @Benchmark
    public String blank(Blank state) {
        return state.word;
    }

    /** Prepared before each iteration, and a thousand operations by one invocation. */
    @State(Scope.Benchmark)
    public static class Slow {
        @Setup(Level.Iteration)
        public void prepare() throws InterruptedException {
            Thread.sleep(40);
        }
    }

    @Benchmark
    @OperationsPerInvocation(1000)
    public int prepared(Slow state) throws InterruptedException {
        Thread.sleep(20);
        return 1;
    }

    @Benchmark
    public void dies() {
        Runtime.getRuntime().halt(3);
    }
}
