package org.openjdk.jmh.runner.options;

public enum VerboseMode {
    SILENT
}
