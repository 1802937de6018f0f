package duetbench.hook;

/** Whose turn it is in an interleaved trial. */
final class Order {
    private Order() {}

    /** The side that runs first in a slice. */
    static int lead(long seed, long slice) {
        long z = seed + slice + 0x9e3779b97f4a7c15L;
        z = (z ^ z >>> 30) * 0xbf58476d1ce4e5b9L;
        z = (z ^ z >>> 27) * 0x94d049bb133111ebL;
        return (int) ((z ^ z >>> 31) & 1);
    }

    /** The turn in which a side runs a slice. */
    static int turn(long seed, int slice, int side) {
        return 2 + 2 * slice + (lead(seed, slice) == side ? 0 : 1);
    }

    /** The side whose turn it is. */
    static int owner(long seed, int turn) {
        return turn < 2 ? turn : lead(seed, (turn - 2) / 2) ^ turn & 1;
    }

    /** The turn at which both sides have run so many slices. */
    static int end(int slices) {
        return 2 + 2 * slices;
    }
}
