package duetbench.hook;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** One measured iteration, as its record on the page says it. */
final class Slice {
    static final int WARM_UP = 1;
    static final int FIRST_OF_BLOCK = 2;
    static final int HAS_MEMORY = 4;
    static final int HAS_CPU = 16;
    static final int ALLOCATIONS_NOT_COUNTED = 32;

    int number;
    int flags;
    long operations;
    long wallNs;
    long cpuNs;
    /** Stays nothing: a JVM counts bytes alone. */
    long allocations;
    long bytes;
    long startNs;
    int collections;
    int block;

    /** Adds what was allocated, which makes the iteration a block of its own. */
    void remember(long allocatedBytes, long collected) {
        flags |= FIRST_OF_BLOCK | HAS_MEMORY | ALLOCATIONS_NOT_COUNTED;
        bytes = allocatedBytes;
        collections = (int) collected;
        block = number + 1;
    }

    /** Puts the record's 64 bytes at this place of the page. */
    void write(ByteBuffer page, int at) {
        ByteBuffer record = page.duplicate().order(ByteOrder.LITTLE_ENDIAN);
        record.position(at);
        record.putInt(number).putInt(flags).putLong(operations).putLong(wallNs).putLong(cpuNs);
        record.putLong(allocations).putLong(bytes).putLong(startNs).putInt(collections).putInt(block);
    }
}
