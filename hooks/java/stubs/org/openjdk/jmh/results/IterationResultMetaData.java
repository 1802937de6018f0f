package org.openjdk.jmh.results;

public abstract class IterationResultMetaData {
    public abstract long getMeasuredOps();
}
