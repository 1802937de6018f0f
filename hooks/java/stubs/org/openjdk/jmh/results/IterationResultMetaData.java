package org.openjdk.jmh.results;

public abstract class IterationResultMetaData {
    public abstract long getMeasuredOps();

    public abstract long getAllOps();
}
