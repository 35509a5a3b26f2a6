// SPDX-License-Identifier: LGPL-2.1-or-later
import io.pcp.trace.Transaction;

/**
 * Times the same with transactions and with Java's clock: one that begins here and ends on another
 * thread. Prints what Java's clock says from outside and from inside of it, in nanoseconds.
 */
final class Durations {
    private static final Transaction HANDED_OVER = Transaction.of("handed over");

    public static void main(String[] arguments) throws InterruptedException {
        long outside = System.nanoTime();
        var running = HANDED_OVER.begin();
        long inside = System.nanoTime();
        Thread.sleep(300);  // load: a duration
        var thread = new Thread(() -> {
            long insideEnd = System.nanoTime();
            running.close();
            System.out.println((System.nanoTime() - outside) + " " + (insideEnd - inside));
        });
        thread.start();
        thread.join();
    }
}
