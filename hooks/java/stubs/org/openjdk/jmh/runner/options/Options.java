package org.openjdk.jmh.runner.options;

public interface Options {}
