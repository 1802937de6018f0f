package org.openjdk.jmh.runner;

public class RunnerException extends Exception {}
