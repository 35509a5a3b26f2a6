// SPDX-License-Identifier: LGPL-2.1-or-later
import io.pcp.trace.Point;
import io.pcp.trace.Trace;
import io.pcp.trace.Transaction;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/**
 * Serves requests of three levels, all open at once, on a virtual thread each. Prints for each what
 * its outgoing requests would carry: at each level on the way in and out, and afterwards.
 *
 * <p>VirtualThreads THREADS
 */
final class VirtualThreads {
    private static final Transaction REQUEST = Transaction.of("request");
    private static final Transaction STEP = Transaction.of("step");
    private static final Transaction QUERY = Transaction.of("query");
    private static final Point ROW = Point.of("row");

    /** Each thread leaves its carrier here, and goes on when all have come. */
    private static void meet(CountDownLatch latch) {
        latch.countDown();
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void serve(int number, CountDownLatch first, CountDownLatch second) {
        List<String> sent = new ArrayList<>();
        REQUEST.run(request -> {
            sent.add(Trace.traceparent());
            meet(first);
            STEP.run(step -> {
                step.note("number", number);
                sent.add(Trace.traceparent());
                meet(second);
                QUERY.run(() -> {
                    sent.add(Trace.traceparent());
                    if (number % 10 == 0) {
                        ROW.hit();
                    }
                });
                sent.add(Trace.traceparent());
            });
            sent.add(Trace.traceparent());
        });
        sent.add(Trace.traceparent());
        synchronized (System.out) {
            System.out.println(number + " " + String.join(" ", sent.stream().map(String::valueOf).toList()));
        }
    }

    public static void main(String[] arguments) throws Exception {
        int count = Integer.parseInt(arguments[0]);
        var first = new CountDownLatch(count);
        var second = new CountDownLatch(count);
        Method start = Thread.class.getMethod("startVirtualThread", Runnable.class);
        var threads = new ArrayList<Thread>();
        for (int i = 0; i < count; i++) {
            int number = i;
            threads.add((Thread) start.invoke(null, (Runnable) () -> serve(number, first, second)));
        }
        for (var thread : threads) {
            thread.join();
        }
    }
}
