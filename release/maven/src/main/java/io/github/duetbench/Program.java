package io.github.duetbench;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Scanner;

/** The programs of the platform's jar, as files that can be run. */
final class Program {
    private Program() {}

    /** Path of `duet`, with its worker beside it; taken out of the jar where it is not there yet. */
    static Path installed() throws IOException {
        String release = text("release");
        Path folder = cache().resolve("duetbench").resolve("maven").resolve(release);
        for (String name : text("programs").split("\\s+")) {
            if (!Files.isExecutable(folder.resolve(name))) {
                put(name, folder);
            }
        }
        return folder.resolve("duet");
    }

    /** Written under another name and then renamed, so that nobody starts half a program. */
    private static void put(String name, Path folder) throws IOException {
        Files.createDirectories(folder, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        Path part = Files.createTempFile(folder, name, ".part");
        try {
            try (InputStream content = resource(name)) {
                Files.copy(content, part, StandardCopyOption.REPLACE_EXISTING);
            }
            Files.setPosixFilePermissions(part, PosixFilePermissions.fromString("rwx------"));
            Files.move(part, folder.resolve(name), StandardCopyOption.ATOMIC_MOVE);
        } catch (AtomicMoveNotSupportedException unlikely) {
            throw new IOException(folder + " cannot rename files", unlikely);
        } finally {
            Files.deleteIfExists(part);
        }
    }

    private static Path cache() {
        String given = System.getenv("XDG_CACHE_HOME");
        return given != null && given.startsWith("/") ? Paths.get(given) : Paths.get(System.getProperty("user.home"), ".cache");
    }

    private static String text(String name) throws IOException {
        try (Scanner scanner = new Scanner(resource(name), "UTF-8").useDelimiter("\\A")) {
            return scanner.next().trim();
        }
    }

    private static InputStream resource(String name) throws IOException {
        InputStream content = Program.class.getResourceAsStream("/duetbench/" + name);
        if (content == null) {
            String machine = System.getProperty("os.name") + " on " + System.getProperty("os.arch");
            throw new IOException("there is no program for " + machine + "; duet measures on Linux, on amd64 and arm64");
        }
        return content;
    }
}
