package duetbench.hook;

/**
 * For programs that have a loop of their own: call {@link #begin} before each iteration and {@link #end} after it, from one thread.
 * A program that is not being measured by duet runs as if the calls were not there.
 */
public final class Duet {
    private static final Lockstep LOCKSTEP = Lockstep.fromEnvironment();
    private static final Clock CLOCK = new Clock();
    private static boolean open;

    private Duet() {}

    /** Waits until this process may run its next iteration, and reads the clock. */
    public static void begin() {
        if (LOCKSTEP != null && (open || LOCKSTEP.begin())) {
            open = true;
            CLOCK.open();
        }
    }

    /** Reads the clock after an iteration. */
    public static void end() {
        end(1);
    }

    /** Reads the clock after an iteration that did so many operations. */
    public static void end(long operations) {
        if (!open) {
            return;
        }
        Slice slice = LOCKSTEP.slice();
        CLOCK.close(slice);
        open = false;
        slice.operations = operations;
        if (operations < 1) {
            System.err.println("duet: iteration " + slice.number + " did " + operations + " operations: it does not count");
        }
        LOCKSTEP.end(operations < 1 ? null : slice);
    }

    /** Number of iterations that are asked for; 0: as many as the program has, or it is not being measured. */
    public static int wanted() {
        return LOCKSTEP == null ? 0 : LOCKSTEP.wanted();
    }

    /** Whether the program is being measured and not all that was asked for has been run. */
    public static boolean active() {
        return LOCKSTEP != null && !LOCKSTEP.isOver();
    }
}
