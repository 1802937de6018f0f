package io.github.duetbench;

import org.apache.maven.plugins.annotations.Mojo;

/** Compares two versions of the project's benchmarks: {@code mvn duetbench:compare -Dduet='HEAD~1 --bench hash'}. */
@Mojo(name = "compare", requiresProject = false, aggregator = true, threadSafe = true)
public class CompareMojo extends DuetMojo {
    @Override
    String command() {
        return "compare";
    }
}
