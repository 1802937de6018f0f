package duetbench.hook;

import java.nio.ByteBuffer;

/** Prints what this implementation makes of the golden files' questions; the test compares. */
public final class Check {
    private Check() {}

    public static void main(String[] arguments) {
        switch (arguments[0]) {
            case "layout":
                layout();
                break;
            case "record":
                record(arguments);
                break;
            default:
                turns(Long.parseUnsignedLong(arguments[1]), Integer.parseInt(arguments[2]));
        }
    }

    private static void layout() {
        print("magic", Page.MAGIC);
        print("version", Page.VERSION);
        print("sides_offset", Page.SIDES);
        print("side_size", Page.side(1) - Page.side(0));
        print("records_offset", Page.HEADER_BYTES);
        print("record_size", Page.RECORD_BYTES);
        print("page_size.100", Page.bytesFor(100));
        print("header.mode", Page.MODE);
        print("header.seed", Page.SEED);
        print("header.warmup_slices", Page.WARMUP_SLICES);
        print("header.capacity", Page.CAPACITY);
        print("header.slices", Page.SLICES);
        print("header.stop", Page.STOP);
        print("header.turn", Page.TURN);
        print("side.state", Page.STATE);
        print("side.style", Page.STYLE);
        print("side.arrive", Page.ARRIVE);
        print("side.asleep", Page.ASLEEP);
        print("side.k", Page.K);
        print("side.k_ns", Page.K_NS);
        print("side.records", Page.RECORDS);
        print("side.parallelism", Page.PARALLELISM);
        print("side.left_early", Page.LEFT_EARLY);
    }

    private static void print(String name, long value) {
        System.out.println(name + " " + value);
    }

    /** The bytes of a record with these fields, in the order of the protocol. */
    private static void record(String[] fields) {
        long[] values = new long[fields.length];
        for (int i = 1; i < fields.length; i++) {
            values[i] = Long.parseUnsignedLong(fields[i]);
        }
        Slice slice = new Slice();
        slice.number = (int) values[1];
        slice.flags = (int) values[2];
        slice.operations = values[3];
        slice.wallNs = values[4];
        slice.cpuNs = values[5];
        slice.allocations = values[6];
        slice.bytes = values[7];
        slice.startNs = values[8];
        slice.collections = (int) values[9];
        slice.block = (int) values[10];
        ByteBuffer bytes = ByteBuffer.allocate(Page.RECORD_BYTES);
        slice.write(bytes, 0);
        StringBuilder hex = new StringBuilder();
        for (byte b : bytes.array()) {
            hex.append(String.format("%02x", b));
        }
        System.out.println(hex);
    }

    /** Whose every turn is, and each side's turns. */
    private static void turns(long seed, int slices) {
        for (int turn = 0; turn < Order.end(slices); turn++) {
            System.out.println("turn " + turn + " " + Order.owner(seed, turn));
        }
        for (int slice = 0; slice < slices; slice++) {
            int first = Order.lead(seed, slice);
            System.out.println("slice " + slice + " " + Order.turn(seed, slice, first) + " " + Order.turn(seed, slice, 1 - first));
        }
        System.out.println("end " + Order.end(slices));
    }
}
