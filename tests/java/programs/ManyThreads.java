// SPDX-License-Identifier: LGPL-2.1-or-later
import io.pcp.trace.Counter;
import io.pcp.trace.Observation;
import io.pcp.trace.Point;
import io.pcp.trace.Transaction;
import java.util.ArrayList;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import sgi.pcp.trace;

/**
 * Traces in every way from several threads, and ends without a flush, as the last argument says.
 *
 * <p>ManyThreads THREADS CALLS return|exit|halt|wait
 */
final class ManyThreads {
    private static final Point PASSED = Point.of("größe 😀");
    private static final Observation VALUE = Observation.of("value");
    private static final Transaction REQUEST = Transaction.of("request");
    private static final Transaction LATE = Transaction.of("late", Map.of("by", "a"));
    private static final Transaction ENDED = Transaction.of("ended");
    private static final Counter TOTAL = Counter.of("total");
    private static final Counter ADDED = Counter.of("added", Map.of("by", "größe €", "kind", "a b"))
            .describe("calls", "one for each");

    private static void call(int calls) {
        for (int i = 1; i <= calls; i++) {
            PASSED.hit();
            VALUE.record(i);
            ADDED.add(1);
            trace.pmtracepoint("größe 😀");
            try (var running = REQUEST.begin()) {
                if (i % 10 == 0) {
                    running.abort();
                }
            }
            try (var running = LATE.begin()) {
                running.label("size", -1);
                running.label("size", i % 5);
                if (i % 10 == 0) {
                    running.fail("a reason");
                } else if (i % 10 == 5) {
                    running.endAs(ENDED);
                } else if (i % 10 == 1) {
                    running.abortAs(ENDED);
                }
            }
        }
    }

    public static void main(String[] arguments) throws InterruptedException {
        int calls = Integer.parseInt(arguments[1]);
        var threads = new ArrayList<Thread>();
        for (int i = Integer.parseInt(arguments[0]); i > 0; i--) {
            threads.add(new Thread(() -> call(calls)));
        }
        threads.forEach(Thread::start);
        for (var thread : threads) {
            thread.join();
        }
        TOTAL.record((double) threads.size() * calls);
        switch (arguments[2]) {
            case "exit" -> System.exit(0);
            case "halt" -> Runtime.getRuntime().halt(0);
            case "wait" -> {
                System.out.println("done");
                new CountDownLatch(1).await(); // for a signal
            }
            default -> { } // by returning
        }
    }
}
