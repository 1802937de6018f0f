package org.openjdk.jmh.runner;

/** None of these is a constant for the compiler, which would otherwise write our value into the classes and not look at JMH's. */
public class Defaults {
    public static final int WARMUP_ITERATIONS_SINGLESHOT = unknown();
    public static final int MEASUREMENT_BATCHSIZE = unknown();
    public static final Integer OPS_PER_INVOCATION = unknown();
    public static final int THREADS = unknown();

    private static int unknown() {
        throw new AssertionError();
    }
}
