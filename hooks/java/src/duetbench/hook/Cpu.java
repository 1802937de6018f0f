package duetbench.hook;

import com.sun.management.OperatingSystemMXBean;
import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.HashMap;
import java.util.Map;

/**
 * The CPU time that this process takes between two points. What the JVM says of itself is counted in hundredths of a second,
 * which is as long as a slice; so the kernel's own count of each thread is read, those of the collector and the compiler too.
 */
final class Cpu {
    /** Largest error of two readings of the coarse count. */
    private static final long COARSE_NS = 10_000_000;

    private final Map<String, Task> tasks = new HashMap<>();
    private ThreadMXBean caller;
    private OperatingSystemMXBean process;
    private String callerTask = "";
    private long callerNs;
    private long coarseNs;
    private int look;

    Cpu() {
        try {
            process = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
            ThreadMXBean threads = ManagementFactory.getThreadMXBean();
            boolean counts = threads.isCurrentThreadCpuTimeSupported() && threads.isThreadCpuTimeEnabled();
            caller = counts && process != null ? threads : null;
        } catch (LinkageError | IllegalArgumentException | UnsupportedOperationException e) {
            caller = null; // a JVM that cannot tell
        }
    }

    /** One thread of this process, of the JVM's own ones too. */
    private static final class Task {
        private final RandomAccessFile file;
        private final byte[] text = new byte[64];
        private long beforeNs;
        private int seen;

        Task(String id) throws IOException {
            file = new RandomAccessFile("/proc/self/task/" + id + "/schedstat", "r");
        }

        /** The first number in the file: nanoseconds on a processor. */
        long nanos() throws IOException {
            file.seek(0);
            int length = file.read(text);
            long nanos = 0;
            for (int i = 0; i < length && text[i] >= '0' && text[i] <= '9'; i++) {
                nanos = 10 * nanos + text[i] - '0';
            }
            return nanos;
        }

        boolean close() {
            try {
                file.close();
            } catch (IOException e) {
                // It was only read.
            }
            return true;
        }
    }

    /** Counts from here. The calling thread comes last: it is the one that works meanwhile. */
    void begin() {
        if (caller == null) {
            return;
        }
        try {
            callerTask = Files.readSymbolicLink(Paths.get("/proc/thread-self")).getFileName().toString();
        } catch (IOException | UnsupportedOperationException e) {
            caller = null; // not on Linux
            return;
        }
        coarseNs = process.getProcessCpuTime();
        others(true);
        callerNs = caller.getCurrentThreadCpuTime();
    }

    /** Nanoseconds since then, asked by the same thread; negative where this JVM cannot tell. */
    long end() {
        if (caller == null) {
            return -1;
        }
        long nanos = caller.getCurrentThreadCpuTime() - callerNs + others(false);
        // Threads that have ended meanwhile are only in the coarse count.
        return Math.max(nanos, process.getProcessCpuTime() - coarseNs - COARSE_NS);
    }

    /** CPU time of all other threads since this was last called with {@code anew}, nanoseconds. */
    private long others(boolean anew) {
        String[] ids = new File("/proc/self/task").list();
        long taken = 0;
        look++;
        for (String id : ids == null ? new String[0] : ids) {
            if (!id.equals(callerTask)) {
                taken += taken(id, anew);
            }
        }
        tasks.values().removeIf(task -> task.seen != look && task.close());
        return taken;
    }

    private long taken(String id, boolean anew) {
        try {
            Task task = tasks.get(id);
            if (task == null) {
                task = new Task(id);
                tasks.put(id, task);
            }
            long nanos = task.nanos();
            long taken = Math.max(0, nanos - task.beforeNs);
            task.seen = look;
            task.beforeNs = anew ? nanos : task.beforeNs;
            return taken;
        } catch (IOException e) {
            return 0; // it has just ended
        }
    }
}
