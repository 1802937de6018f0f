package duetbench.hook;

import java.io.IOException;
import java.nio.file.Paths;
import java.util.function.BooleanSupplier;

/**
 * The course of a trial whose iterations belong to a loop that is not ours: style 5 of hooks/protocol/PROTOCOL.md.
 * One thread calls it.
 */
final class Lockstep {
    private static final int DUET = 0;
    private static final int INTERLEAVED = 1;
    private static final int ALIVE = 1;
    private static final int DONE = 2;
    private static final int STYLE_ITERATION = 5;
    private static final long SPIN_NS = 200_000;
    /** Looks between two readings of the clock. */
    private static final int SPIN_LOOKS = 64;

    private final Page page;
    private final int side;
    private final int own;
    private final int peer;
    private final int mode;
    private final long seed;
    private final int warmUp;
    private final int slices;
    private final int total;
    private final Bell ownBell;
    private final Bell peerBell;

    private int next;
    private int barrier;
    private boolean arrived;
    private volatile boolean holds;
    private volatile boolean over;

    private Lockstep(String path, int side) throws IOException {
        page = Page.map(Paths.get(path));
        this.side = side;
        own = Page.side(side);
        peer = Page.side(1 - side);
        mode = page.getInt(Page.MODE);
        seed = page.getLong(Page.SEED);
        warmUp = page.getInt(Page.WARMUP_SLICES);
        slices = page.getInt(Page.SLICES);
        total = slices == 0 ? page.capacity() : Math.min(warmUp + slices, page.capacity());
        ownBell = new Bell(path + "." + side);
        peerBell = new Bell(path + "." + (1 - side));
    }

    /** This process's part in a trial; absent when it is not measured. */
    static Lockstep fromEnvironment() {
        String path = System.getenv("DUET_PAGE");
        if (path == null) {
            return null;
        }
        try {
            Lockstep lockstep = new Lockstep(path, "1".equals(System.getenv("DUET_SIDE")) ? 1 : 0);
            // Should a ring ever be missed, the sleeper looks up all the same.
            Watch.begin(lockstep::wakeUp);
            Runtime.getRuntime().addShutdownHook(new Thread(lockstep::leave, "duet-leave"));
            return lockstep;
        } catch (IOException e) {
            throw new IllegalStateException(e.getMessage(), e);
        }
    }

    /** Number of iterations that are asked for, warm-up included; 0: as many as there are. */
    int wanted() {
        return slices == 0 ? 0 : total;
    }

    /** Whether the trial is over for this side: from now on iterations are its own affair. */
    boolean isOver() {
        return over;
    }

    boolean isInterleaved() {
        return mode == INTERLEAVED;
    }

    /** Waits until this side may run its next slice; false when the trial is over. */
    boolean begin() {
        handOn();
        if (!over && !(arrive() && mayOpen())) {
            leaveEarly();
        }
        return !over;
    }

    /** The slice that has just been run, with its number. */
    Slice slice() {
        Slice slice = new Slice();
        slice.number = next;
        slice.flags = next < warmUp ? Slice.WARM_UP : 0;
        return slice;
    }

    /** Ends a slice; it may be missing, when it cannot be told how long it took. */
    void end(Slice slice) {
        if (slice != null) {
            page.add(side, slice);
        }
        next++;
        holds = mode == INTERLEAVED;
        if (next == total) {
            handOn();
            if (together()) {
                leave();
            } else {
                leaveEarly();
            }
        }
    }

    /**
     * Passes the turn in which the last slice ran. It is held until the next one begins: what a program does between two
     * iterations would else take time from the peer's.
     */
    private void handOn() {
        if (holds) {
            holds = false;
            pass(Order.turn(seed, next - 1, side));
        }
    }

    private boolean arrive() {
        if (arrived) {
            return true;
        }
        arrived = true;
        page.putLong(own + Page.K, 1);
        page.putLong(own + Page.K_NS, 1);
        page.putInt(own + Page.PARALLELISM, Runtime.getRuntime().availableProcessors());
        page.putInt(own + Page.STYLE, STYLE_ITERATION);
        page.putInt(own + Page.STATE, ALIVE);
        wakePeer();
        switch (mode) {
            case DUET:
                return sleepUntil(() -> page.getInt(peer + Page.STATE) >= ALIVE) && meet();
            case INTERLEAVED:
                boolean first = sleepUntil(() -> page.getInt(peer + Page.STATE) >= ALIVE) && await(side);
                if (first) {
                    pass(side);
                }
                return first;
            default:
                return true;
        }
    }

    private boolean mayOpen() {
        switch (mode) {
            case DUET:
                return meet();
            case INTERLEAVED:
                return await(Order.turn(seed, next, side));
            default:
                return page.getInt(Page.STOP) == 0;
        }
    }

    /** Waits for the peer to have run its last slice too. */
    private boolean together() {
        switch (mode) {
            case DUET:
                return meet();
            case INTERLEAVED:
                return await(Order.end(total));
            default:
                return true;
        }
    }

    private boolean await(int turn) {
        return sleepUntil(() -> page.getInt(Page.TURN) == turn);
    }

    private void pass(int turn) {
        int following = turn + 1;
        page.putInt(Page.TURN, following);
        if (following == Order.end(total) || Order.owner(seed, following) != side) {
            wakePeer();
        }
    }

    private boolean meet() {
        int n = ++barrier;
        page.putInt(own + Page.ARRIVE, n);
        wakePeer();
        BooleanSupplier met = () -> page.getInt(peer + Page.ARRIVE) >= n;
        return spinUntil(met) || sleepUntil(met);
    }

    /** Waits without giving up the core, as long as that is shorter than falling asleep and waking up. */
    private boolean spinUntil(BooleanSupplier condition) {
        long start = System.nanoTime();
        do {
            for (int look = 0; look < SPIN_LOOKS; look++) {
                if (condition.getAsBoolean()) {
                    return true;
                }
                Thread.onSpinWait();
            }
        } while (System.nanoTime() - start < SPIN_NS && !isBroken());
        return false;
    }

    /** Sleeps until the condition holds; false when it never will. */
    private boolean sleepUntil(BooleanSupplier condition) {
        while (!condition.getAsBoolean()) {
            if (isBroken()) {
                // The peer may have done its part and left before it was looked at.
                return condition.getAsBoolean();
            }
            // First say that this side sleeps, then look again, then sleep: the peer first does its part and then looks who sleeps.
            page.putInt(own + Page.ASLEEP, 1);
            if (!condition.getAsBoolean() && !isBroken()) {
                ownBell.listen();
            }
            page.putInt(own + Page.ASLEEP, 0);
        }
        return true;
    }

    private boolean isBroken() {
        return page.getInt(Page.STOP) != 0 || isPeerGone();
    }

    private boolean isPeerGone() {
        return page.getInt(peer + Page.STATE) >= DONE;
    }

    private void wakePeer() {
        if (page.getInt(peer + Page.ASLEEP) != 0) {
            peerBell.ring();
        }
    }

    private void wakeUp() {
        if (page.getInt(own + Page.ASLEEP) != 0) {
            ownBell.ring();
        }
    }

    private void leaveEarly() {
        // Where nobody said how many iterations there are, the side with the fewest says it.
        if (slices != 0 || page.getInt(Page.STOP) != 0) {
            page.putInt(own + Page.LEFT_EARLY, 1);
        }
        leave();
    }

    private void leave() {
        over = true;
        handOn();
        if (arrived) {
            page.putInt(own + Page.STATE, DONE);
        }
        wakePeer();
    }
}
