package io.github.duetbench;

import org.apache.maven.plugins.annotations.Mojo;

/** Shows duet at work in a minute, with nothing of yours. */
@Mojo(name = "demo", requiresProject = false, aggregator = true, threadSafe = true)
public class DemoMojo extends DuetMojo {
    @Override
    String command() {
        return "demo";
    }
}
