package duetbench.hook;

/** Wall and CPU time between the opening and the closing of a slice. */
final class Clock {
    private final Cpu cpu = new Cpu();
    private long openedNs;

    /** The wall clock is read last. */
    void open() {
        cpu.begin();
        openedNs = System.nanoTime();
    }

    /** The wall clock is read first; the slice's time is that between the two calls unless somebody knows better. */
    void close(Slice slice) {
        slice.startNs = openedNs;
        slice.wallNs = System.nanoTime() - openedNs;
        long cpuNs = cpu.end();
        if (cpuNs >= 0) {
            slice.flags |= Slice.HAS_CPU;
            slice.cpuNs = cpuNs;
        }
    }
}
