import duetbench.hook.Duet;

/**
 * A program with a loop of its own: {@code Loop ITERATIONS MICROSECONDS [BETWEEN]}, the length of each and of the work between two, of
 * which it then says when that was.
 */
public final class Loop {
    private Loop() {}

    public static void main(String[] arguments) {
        endAtLast();
        int iterations = Integer.parseInt(arguments[0]);
        long nanos = 1000 * Long.parseLong(arguments[1]);
        long between = arguments.length > 2 ? 1000 * Long.parseLong(arguments[2]) : 0;
        System.out.println("wanted " + Duet.wanted() + " active " + Duet.active());
        for (int i = 0; i < iterations; i++) {
            Duet.begin();
            spin(nanos);
            Duet.end(7);
            if (between > 0 && i < iterations - 1) {
                long start = System.nanoTime();
                spin(between);
                System.out.println("between " + start + " " + System.nanoTime());
            }
        }
        System.out.println("active " + Duet.active());
    }

    private static void spin(long nanos) {
        long start = System.nanoTime();
        while (System.nanoTime() - start < nanos) {
            Thread.onSpinWait();
        }
    }

    /** Should the test be killed, nobody else ends a loop that waits for its peer. */
    private static void endAtLast() {
        Thread last = new Thread(() -> {
            try {
                Thread.sleep(120_000);
            } catch (InterruptedException e) {
                // Then it is just earlier.
            }
            Runtime.getRuntime().halt(1);
        });
        last.setDaemon(true);
        last.start();
    }
}
