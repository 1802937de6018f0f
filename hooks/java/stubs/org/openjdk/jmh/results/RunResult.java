package org.openjdk.jmh.results;

public abstract class RunResult {}
