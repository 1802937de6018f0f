package duetbench.hook;

import java.io.IOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;

/** The file that a list is appended to, line by line, so that what was written is there whatever happens next. */
final class ListFile implements AutoCloseable {
    private final Writer file;

    ListFile(Path path) throws IOException {
        file = Files.newBufferedWriter(path, StandardCharsets.UTF_8, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    }

    /** Writes a line of fields. */
    void line(List<String> fields) throws IOException {
        for (int i = 0; i < fields.size(); i++) {
            file.write(i == 0 ? "" : "\t");
            file.write(escaped(fields.get(i)));
        }
        file.write('\n');
        file.flush();
    }

    void line(String... fields) throws IOException {
        line(List.of(fields));
    }

    private static String escaped(String field) {
        return field.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r");
    }

    @Override
    public void close() throws IOException {
        file.close();
    }
}
