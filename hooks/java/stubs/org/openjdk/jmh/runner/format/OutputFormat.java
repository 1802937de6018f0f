package org.openjdk.jmh.runner.format;

public interface OutputFormat {}
