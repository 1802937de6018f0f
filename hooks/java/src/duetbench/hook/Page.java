package duetbench.hook;

import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** The page that two measured processes and the controller share; laid out as hooks/protocol/PROTOCOL.md says. */
final class Page {
    static final int MODE = 12;
    static final int SEED = 16;
    static final int WARMUP_SLICES = 40;
    static final int CAPACITY = 44;
    static final int SLICES = 76;
    static final int STOP = 128;
    static final int TURN = 192;

    static final int STATE = 0;
    static final int STYLE = 4;
    static final int ARRIVE = 8;
    static final int ASLEEP = 12;
    static final int K = 16;
    static final int K_NS = 24;
    static final int RECORDS = 52;
    static final int PARALLELISM = 56;
    static final int LEFT_EARLY = 60;

    static final int SIDES = 256;
    static final int SIDE_BYTES = 256;
    static final int HEADER_BYTES = 4096;
    static final int RECORD_BYTES = 64;

    /** The bytes {@code DUETPAG1}, read as a little-endian number. */
    static final long MAGIC = 0x3147415054455544L;
    static final int VERSION = 1;

    private static final int MAGIC_AT = 0;
    private static final int VERSION_AT = 8;
    private static final VarHandle INT = view(int[].class);
    private static final VarHandle LONG = view(long[].class);

    private final ByteBuffer bytes;
    private final int capacity;

    private Page(ByteBuffer bytes, int capacity) {
        this.bytes = bytes;
        this.capacity = capacity;
    }

    private static VarHandle view(Class<?> array) {
        return MethodHandles.byteBufferViewVarHandle(array, ByteOrder.LITTLE_ENDIAN);
    }

    /** Maps the page; refuses what is none, or one that cannot hold a slice that counts. */
    static Page map(Path path) throws IOException {
        try (FileChannel file = FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            long size = file.size();
            if (size < HEADER_BYTES || size > Integer.MAX_VALUE) {
                throw new IOException("duet: `" + path + "` is not a page: it has " + size + " bytes");
            }
            Page header = new Page(file.map(FileChannel.MapMode.READ_WRITE, 0, size), 0);
            int capacity = header.getInt(CAPACITY);
            if (header.getLong(MAGIC_AT) != MAGIC || header.getInt(VERSION_AT) != VERSION) {
                throw new IOException("duet: `" + path + "` is not a page of version " + VERSION
                        + ": take the hook that belongs to this duet");
            }
            if (capacity <= header.getInt(WARMUP_SLICES) || size < bytesFor(capacity)) {
                throw new IOException("duet: `" + path + "` has no room for a slice that counts");
            }
            return new Page(header.bytes, capacity);
        }
    }

    static long bytesFor(int capacity) {
        return HEADER_BYTES + 2L * capacity * RECORD_BYTES;
    }

    /** Where a side's block begins. */
    static int side(int side) {
        return SIDES + side * SIDE_BYTES;
    }

    int capacity() {
        return capacity;
    }

    int getInt(int at) {
        return (int) INT.getVolatile(bytes, at);
    }

    void putInt(int at, int value) {
        INT.setVolatile(bytes, at, value);
    }

    long getLong(int at) {
        return (long) LONG.getVolatile(bytes, at);
    }

    void putLong(int at, long value) {
        LONG.setVolatile(bytes, at, value);
    }

    /** Adds a record of a side; what has no room is dropped. */
    void add(int side, Slice slice) {
        int count = side(side) + RECORDS;
        int n = getInt(count);
        if (n < capacity) {
            slice.write(bytes, HEADER_BYTES + (side * capacity + n) * RECORD_BYTES);
            // Last, and after everything else: a record counts as written when this has passed it.
            putInt(count, n + 1);
        }
    }
}
