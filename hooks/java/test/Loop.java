import duetbench.hook.Duet;

/** A program with a loop of its own: {@code Loop ITERATIONS MICROSECONDS}, the length of each. */
public final class Loop {
    private Loop() {}

    public static void main(String[] arguments) {
        endAtLast();
        int iterations = Integer.parseInt(arguments[0]);
        long nanos = 1000 * Long.parseLong(arguments[1]);
        System.out.println("wanted " + Duet.wanted() + " active " + Duet.active());
        for (int i = 0; i < iterations; i++) {
            Duet.begin();
            long start = System.nanoTime();
            while (System.nanoTime() - start < nanos) {
                Thread.onSpinWait();
            }
            Duet.end(7);
        }
        System.out.println("active " + Duet.active());
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
