// SPDX-License-Identifier: LGPL-2.1-or-later
import io.pcp.trace.Transaction;

/**
 * Measures the same work with a transaction and with Java's clock. It begins here and ends on another
 * thread. Prints the times by Java's clock around and inside the transaction, in nanoseconds.
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
