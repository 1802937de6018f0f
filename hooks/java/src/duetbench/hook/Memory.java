package duetbench.hook;

import com.sun.management.ThreadMXBean;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/** Allocations of the live threads of this process since it began to count, and the number of collections. */
final class Memory {
    private final ThreadMXBean threads;
    private final Map<Long, Long> before = new HashMap<>();
    private long collectedBefore;

    Memory() {
        threads = find();
    }

    private static ThreadMXBean find() {
        try {
            ThreadMXBean bean = ManagementFactory.getPlatformMXBean(ThreadMXBean.class);
            boolean counts = bean != null && bean.isThreadAllocatedMemorySupported();
            return counts && bean.isThreadAllocatedMemoryEnabled() ? bean : null;
        } catch (LinkageError | IllegalArgumentException | UnsupportedOperationException e) {
            return null; // a JVM that cannot tell
        }
    }

    /** Counts from here. */
    void begin() {
        if (threads == null) {
            return;
        }
        before.clear();
        long[] ids = others();
        long[] bytes = threads.getThreadAllocatedBytes(ids);
        for (int i = 0; i < ids.length; i++) {
            before.put(ids[i], bytes[i]);
        }
        collectedBefore = collections();
    }

    /** Counts up to here, into the record of what was run in between; leaves it as it is where this JVM cannot tell. */
    void end(Slice slice) {
        if (threads == null) {
            return;
        }
        long collected = collections() - collectedBefore;
        long[] ids = others();
        long[] bytes = threads.getThreadAllocatedBytes(ids);
        long allocated = 0;
        for (int i = 0; i < ids.length; i++) {
            // A thread that has ended in between tells nothing: its number is negative.
            allocated += Math.max(0, bytes[i] - before.getOrDefault(ids[i], 0L));
        }
        slice.remember(allocated, collected);
    }

    /** All but the calling thread, which runs no measured code but the harness's own loop, and this counting. */
    private long[] others() {
        long self = Thread.currentThread().getId();
        long[] ids = threads.getAllThreadIds();
        int kept = 0;
        for (long id : ids) {
            if (id != self) {
                ids[kept++] = id;
            }
        }
        return Arrays.copyOf(ids, kept);
    }

    private static long collections() {
        long count = 0;
        for (GarbageCollectorMXBean collector : ManagementFactory.getGarbageCollectorMXBeans()) {
            count += Math.max(0, collector.getCollectionCount());
        }
        return count;
    }
}
