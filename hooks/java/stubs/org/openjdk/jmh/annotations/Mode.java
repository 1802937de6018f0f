package org.openjdk.jmh.annotations;

public enum Mode {
    Throughput,
    AverageTime,
    SampleTime,
    SingleShotTime,
    All;

    public String shortLabel() {
        throw new AssertionError();
    }
}
