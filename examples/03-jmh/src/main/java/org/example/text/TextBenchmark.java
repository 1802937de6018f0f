package org.example.text;

import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/** Benchmarks of {@link Text}, in all of JMH's modes. */
@State(Scope.Thread)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
public class TextBenchmark {
    @State(Scope.Thread)
    public static class Sized {
        @Param({"64", "1024"})
        int size;

        byte[] bytes;

        @Setup
        public void fill() {
            bytes = new byte[size];
            new Random(1).nextBytes(bytes);
        }
    }

    private int[] numbers;
    private int[] copy;
    private String[] words;

    @Setup
    public void fill() {
        Random random = new Random(1);
        numbers = random.ints(100).toArray();
        copy = new int[numbers.length];
        words = new String[50];
        for (int i = 0; i < words.length; i++) {
            words[i] = "word" + random.nextInt(30);
        }
    }

    @Benchmark
    @BenchmarkMode(Mode.AverageTime)
    public long hash(Sized sized) {
        return Text.hash(sized.bytes);
    }

    @Benchmark
    @BenchmarkMode(Mode.AverageTime)
    public int sort() {
        return Text.sort(numbers, copy);
    }

    @Benchmark
    @BenchmarkMode(Mode.Throughput)
    public int words() {
        return Text.words(words);
    }

    @Benchmark
    @BenchmarkMode(Mode.SampleTime)
    public int join() {
        return Text.join(words);
    }
}
