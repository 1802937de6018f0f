package duetbench.hook;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.runner.BenchmarkListEntry;
import org.openjdk.jmh.runner.Defaults;

/** One benchmark of one mode, with one value for each of its parameters. */
final class Entry {
    final BenchmarkListEntry benchmark;
    final Map<String, String> parameters;
    /** A parameter that there is no value for; absent when all have one. */
    final String blank;

    private Entry(BenchmarkListEntry benchmark, Map<String, String> parameters, String blank) {
        this.benchmark = benchmark;
        this.parameters = parameters;
        this.blank = blank;
    }

    /** Every combination of a benchmark's parameters, the first one varying slowest. */
    static List<Entry> all(BenchmarkListEntry benchmark) {
        List<Map<String, String>> combinations = new ArrayList<>();
        combinations.add(new LinkedHashMap<>());
        String blank = null;
        Map<String, String[]> values = new TreeMap<>(benchmark.getParams().orElse(Collections.emptyMap()));
        for (Map.Entry<String, String[]> parameter : values.entrySet()) {
            if (parameter.getValue().length == 0) {
                blank = parameter.getKey();
            } else {
                combinations = product(combinations, parameter.getKey(), parameter.getValue());
            }
        }
        List<Entry> entries = new ArrayList<>();
        for (Map<String, String> combination : combinations) {
            entries.add(new Entry(benchmark, combination, blank));
        }
        return entries;
    }

    private static List<Map<String, String>> product(List<Map<String, String>> combinations, String name, String[] values) {
        List<Map<String, String>> longer = new ArrayList<>();
        for (Map<String, String> combination : combinations) {
            for (String value : values) {
                Map<String, String> extended = new LinkedHashMap<>(combination);
                extended.put(name, value);
                longer.add(extended);
            }
        }
        return longer;
    }

    /** The fields of its line in a list. */
    List<String> fields(int index) {
        List<String> fields = new ArrayList<>(List.of("entry", Integer.toString(index), benchmark.getUsername()));
        fields.add(benchmark.getMode().shortLabel());
        fields.add(Integer.toString(threads()));
        fields.add(isCold() ? "1" : "0");
        fields.add(benchmark.getOperationsPerInvocation().orElse(Defaults.OPS_PER_INVOCATION).toString());
        fields.add(benchmark.getMeasurementBatchSize().orElse(Defaults.MEASUREMENT_BATCHSIZE).toString());
        fields.add(groups());
        fields.add(benchmark.getJvm().orElse(""));
        fields.add(Integer.toString(parameters.size()));
        parameters.forEach((name, value) -> Collections.addAll(fields, name, value));
        List<String> arguments = jvmArguments();
        fields.add(Integer.toString(arguments.size()));
        fields.addAll(arguments);
        return fields;
    }

    /** As many as are asked for, a negative number for all processors, and whole groups of them. */
    private int threads() {
        int asked = benchmark.getThreads().orElse(Defaults.THREADS);
        int threads = asked > 0 ? asked : Runtime.getRuntime().availableProcessors();
        int group = 0;
        for (int members : benchmark.getThreadGroups()) {
            group += members;
        }
        return group == 0 ? threads : (threads + group - 1) / group * group;
    }

    /** Threads of each method of a group, as {@code 3+1}; {@code 1} where there is no group. */
    private String groups() {
        return Arrays.stream(benchmark.getThreadGroups()).mapToObj(Integer::toString).collect(Collectors.joining("+"));
    }

    /** Whether it is a single shot without a warm-up, which is for the time of a first call. */
    private boolean isCold() {
        boolean single = benchmark.getMode() == Mode.SingleShotTime;
        return single && benchmark.getWarmupIterations().orElse(Defaults.WARMUP_ITERATIONS_SINGLESHOT) == 0;
    }

    private List<String> jvmArguments() {
        Collection<String> none = Collections.emptyList();
        List<String> arguments = new ArrayList<>(benchmark.getJvmArgsPrepend().orElse(none));
        arguments.addAll(benchmark.getJvmArgs().orElse(none));
        arguments.addAll(benchmark.getJvmArgsAppend().orElse(none));
        return arguments;
    }
}
