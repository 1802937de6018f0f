package duetbench.hook;

import java.io.IOException;
import java.io.RandomAccessFile;

/** A named pipe on which one side sleeps and which the others ring: a JVM cannot sleep in a futex. */
final class Bell {
    private final RandomAccessFile pipe;
    private final byte[] heard = new byte[64];

    /** Opened for reading and writing, so that opening waits for nobody and reading never meets an end. */
    Bell(String path) throws IOException {
        pipe = new RandomAccessFile(path, "rw");
    }

    /** Sleeps until somebody rings, or has rung since it was last heard. */
    void listen() {
        try {
            pipe.read(heard);
        } catch (IOException e) {
            // Whoever waits looks again and again then, which is slow but ends.
            Thread.yield();
        }
    }

    void ring() {
        try {
            pipe.write(1);
        } catch (IOException e) {
            // The sleeper looks up twice a second by itself.
        }
    }
}
