package org.openjdk.jmh.infra;

public abstract class IterationParams {}
