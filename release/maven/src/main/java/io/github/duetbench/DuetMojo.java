package io.github.duetbench;

import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.maven.plugin.AbstractMojo;
import org.apache.maven.plugin.MojoExecutionException;
import org.apache.maven.plugin.MojoFailureException;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;

/** Runs any command of duet in the folder in which Maven was started: {@code mvn duetbench:duet -Dduet='show --format markdown'}. */
@Mojo(name = "duet", requiresProject = false, aggregator = true, threadSafe = true)
public class DuetMojo extends AbstractMojo {
    /** Arguments, separated by spaces. */
    @Parameter(property = "duet")
    private String typed;

    /** Arguments that a POM gives, one by one, before those that are typed. */
    @Parameter private List<String> arguments;

    @Parameter(defaultValue = "${session.executionRootDirectory}", readonly = true)
    private File folder;

    @Override
    public void execute() throws MojoExecutionException, MojoFailureException {
        int code;
        try {
            code = ended(new ProcessBuilder(words()).directory(folder).inheritIO().start());
        } catch (IOException failed) {
            throw new MojoExecutionException("duet cannot be started: " + failed.getMessage(), failed);
        }
        if (code != 0) {
            throw new MojoFailureException("duet ended with " + code + meaning(code));
        }
    }

    /** The command that a goal stands for; none where the arguments name it. */
    String command() {
        return null;
    }

    private List<String> words() throws IOException {
        List<String> words = new ArrayList<>();
        words.add(Program.installed().toString());
        if (command() != null) {
            words.add(command());
        }
        if (arguments != null) {
            words.addAll(arguments);
        }
        if (typed != null && !typed.trim().isEmpty()) {
            words.addAll(Arrays.asList(typed.trim().split("\\s+")));
        }
        return words;
    }

    private static int ended(Process duet) throws MojoExecutionException {
        try {
            return duet.waitFor();
        } catch (InterruptedException interrupted) {
            duet.destroy();
            Thread.currentThread().interrupt();
            throw new MojoExecutionException("interrupted; `duet compare --resume latest` goes on", interrupted);
        }
    }

    private static String meaning(int code) {
        switch (code) {
            case 1: return ": something failed, see above";
            case 3: return ": it is slower by more than is tolerated, see above";
            case 4: return ": a benchmark has no answer, and the gate wants one, see above";
            case 5: return ": a waiver has to go, see above";
            default: return ", see above";
        }
    }
}
