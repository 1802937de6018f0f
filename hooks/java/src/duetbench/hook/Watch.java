package duetbench.hook;

import java.util.Optional;

/** Looks twice a second whether the controller still lives, and ends this process when it does not. */
final class Watch extends Thread {
    private static final long PERIOD_MS = 500;
    /** As if it had been killed, which it would have been by the kernel if it were the controller's own child. */
    private static final int EXIT_CODE = 137;

    /** Absent where nobody can be seen: then nobody is looked for. */
    private final Optional<ProcessHandle> parent;
    private final Runnable everyTime;

    private Watch(Optional<ProcessHandle> parent, Runnable everyTime) {
        super("duet-watch");
        setDaemon(true);
        this.parent = parent;
        this.everyTime = everyTime;
    }

    /** Begins to watch the controller that {@code DUET_PARENT} names, if it does, and does this each time. */
    static void begin(Runnable everyTime) {
        String pid = System.getenv("DUET_PARENT");
        if (pid != null) {
            // A handle knows when its process began, so that another process with the same number is not taken for it.
            Optional<ProcessHandle> controller = ProcessHandle.of(Long.parseLong(pid));
            // `hidepid` hides it from us; then whoever started us stands for it, because that dies with it.
            new Watch(controller.or(() -> ProcessHandle.current().parent()), everyTime).start();
        }
    }

    @Override
    public void run() {
        while (!parent.isPresent() || parent.get().isAlive()) {
            everyTime.run();
            try {
                Thread.sleep(PERIOD_MS);
            } catch (InterruptedException e) {
                // Measured code may interrupt every thread it finds. This one goes on.
            }
        }
        Runtime.getRuntime().halt(EXIT_CODE);
    }
}
