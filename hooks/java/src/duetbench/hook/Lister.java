package duetbench.hook;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.regex.Pattern;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.runner.BenchmarkList;
import org.openjdk.jmh.runner.BenchmarkListEntry;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.format.OutputFormat;
import org.openjdk.jmh.runner.format.OutputFormatFactory;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;
import org.openjdk.jmh.util.Version;

/** Lists the benchmarks of the class path and tries each of them once, for the controller. */
public final class Lister {
    private static final int WORDS_LINES = 5;

    private Lister() {}

    /** Appends to the file that {@code DUET_LIST} names: see "List mode" in hooks/protocol/PROTOCOL.md. */
    public static void main(String[] arguments) throws IOException {
        Watch.begin(() -> {});
        // Two JMH at once stop each other otherwise; read when the class Runner is loaded.
        System.setProperty("jmh.ignoreLock", "true");
        try (ListFile list = new ListFile(Paths.get(System.getenv("DUET_LIST")))) {
            Stopwatch.list = list;
            list.line("jmh", Version.getPlainVersion());
            List<Entry> entries = entries();
            for (int index = 0; index < entries.size(); index++) {
                list.line(entries.get(index).fields(index));
            }
            int only = number("DUET_ONLY", -1);
            int from = only >= 0 ? only : number("DUET_FROM", 0);
            int until = only >= 0 ? Math.min(only + 1, entries.size()) : entries.size();
            List<String> skipped = Arrays.asList(System.getenv().getOrDefault("DUET_SKIP", "").split(","));
            for (int index = from; index < until; index++) {
                if (skipped.contains(Integer.toString(index))) {
                    continue;
                }
                list.line("start", Integer.toString(index));
                list.line(outcome(entries.get(index), Integer.toString(index)));
            }
            list.line("end");
        }
        // A benchmark may have left threads behind.
        Runtime.getRuntime().halt(0);
    }

    private static int number(String variable, int otherwise) {
        String value = System.getenv(variable);
        return value == null ? otherwise : Integer.parseInt(value);
    }

    private static List<Entry> entries() {
        List<Entry> entries = new ArrayList<>();
        if (Lister.class.getResource("/META-INF/BenchmarkList") == null) {
            return entries;
        }
        OutputFormat silent = OutputFormatFactory.createFormatInstance(
                new PrintStream(new ByteArrayOutputStream()), VerboseMode.SILENT);
        for (BenchmarkListEntry benchmark : BenchmarkList.defaultList().getAll(silent, Collections.emptyList())) {
            for (Mode mode : Mode.values()) {
                if (mode != Mode.All && (mode == benchmark.getMode() || benchmark.getMode() == Mode.All)) {
                    entries.addAll(Entry.all(benchmark.cloneWith(mode)));
                }
            }
        }
        return entries;
    }

    private static String[] outcome(Entry entry, String index) {
        if (entry.blank != null) {
            String words = "its parameter `" + entry.blank + "` has no value: give `@Param` one";
            return new String[] {"fail", index, words};
        }
        try {
            return new String[] {"done", index, Long.toString(iterationNanos(entry))};
        } catch (Throwable e) {
            return new String[] {"fail", index, words(e)};
        }
    }

    /** The time of a short iteration, by our own clock: JMH's score is for an operation, and leaves out what prepares. */
    private static long iterationNanos(Entry entry) throws RunnerException {
        ChainedOptionsBuilder options = new OptionsBuilder()
                .include("^" + Pattern.quote(entry.benchmark.getUsername()) + "$")
                .mode(entry.benchmark.getMode())
                .forks(0)
                .warmupIterations(0)
                // The first one begins with what prepares the whole trial, and either may be disturbed.
                .measurementIterations(2)
                .measurementTime(TimeValue.milliseconds(1))
                .addProfiler(Stopwatch.class)
                .verbosity(VerboseMode.SILENT)
                .shouldFailOnError(true);
        entry.parameters.forEach((name, value) -> options.param(name, value));
        Stopwatch.nanos(); // of one that failed
        // Not `runSingle`, which refuses a benchmark that has several modes, even when one is asked for.
        if (new Runner(options.build()).run().isEmpty()) {
            throw new IllegalStateException("JMH ran it and gave no result");
        }
        return Stopwatch.nanos();
    }

    /** The exception that the benchmark itself threw, and where. */
    private static String words(Throwable thrown) {
        Throwable cause = thrown;
        while (cause.getCause() != null || cause.getSuppressed().length > 0) {
            cause = cause.getCause() != null ? cause.getCause() : cause.getSuppressed()[0];
        }
        StringBuilder words = new StringBuilder(cause.toString());
        StackTraceElement[] places = cause.getStackTrace();
        for (int i = 0; i < places.length && i + 1 < WORDS_LINES; i++) {
            words.append("\n\tat ").append(places[i]);
        }
        return words.toString();
    }
}
