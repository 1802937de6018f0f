package org.openjdk.jmh.results;

import java.util.Collection;

@SuppressWarnings("rawtypes")
public abstract class IterationResult {
    public abstract Collection<Result> getRawPrimaryResults();

    public abstract Result getPrimaryResult();

    public abstract IterationResultMetaData getMetadata();
}
