// SPDX-License-Identifier: LGPL-2.1-or-later
// A pretend mail server: four threads serve requests in a loop, for 20 seconds or as you say.
//
//   java -cp pcp-trace.jar RequestLoop.java [SECONDS]
//
// A request usually takes a millisecond or two. One delivery in fifty meets a spam filter that
// reloads its rules. The average of "deliver" hardly shows that, its maximum does.
//
//   pminfo -f trace.transact.ave_time trace.transact.max_time trace.transact.p99
import io.pcp.trace.Counter;
import io.pcp.trace.Observation;
import io.pcp.trace.Point;
import io.pcp.trace.Transaction;
import java.util.ArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

final class RequestLoop {
    // Each tag is looked up once, here.
    private static final Transaction FETCH = Transaction.of("fetch");
    private static final Transaction DELIVER = Transaction.of("deliver");
    private static final Point RULES_LOADED = Point.of("rules-loaded");
    private static final Observation MAIL_SIZE = Observation.of("mail-size");
    private static final Counter MAILS = Counter.of("mails");

    private static final int THREADS = 4;
    private static final AtomicLong delivered = new AtomicLong();

    private static void fetch(ThreadLocalRandom random) throws InterruptedException {
        try (var running = FETCH.begin()) {
            TimeUnit.MICROSECONDS.sleep(random.nextInt(500, 1500));
        }
    }

    private static void deliver(ThreadLocalRandom random) throws InterruptedException {
        try (var running = DELIVER.begin()) {
            MAIL_SIZE.record(1000 * Math.exp(random.nextGaussian()));
            if (random.nextInt(50) == 0) {
                RULES_LOADED.hit();
                Thread.sleep(random.nextInt(80, 120)); // the slow path
            }
            TimeUnit.MICROSECONDS.sleep(random.nextInt(1000, 3000));
            if (random.nextInt(10) == 0) {
                running.abort(); // it was spam
            } else {
                delivered.incrementAndGet();
            }
        }
    }

    private static long serve(long endNs) throws InterruptedException {
        var random = ThreadLocalRandom.current();
        long served = 0;
        for (; System.nanoTime() - endNs < 0; served++) {
            if (random.nextInt(3) == 0) {
                deliver(random);
            } else {
                fetch(random);
            }
        }
        return served;
    }

    public static void main(String[] arguments) throws Exception {
        double seconds = arguments.length > 0 ? Double.parseDouble(arguments[0]) : 20;
        long endNs = System.nanoTime() + (long) (seconds * 1e9);

        var threads = Executors.newFixedThreadPool(THREADS);
        var served = new ArrayList<Future<Long>>();
        for (int i = 0; i < THREADS; i++) {
            served.add(threads.submit(() -> serve(endNs)));
        }
        threads.shutdown();
        // Only one thread records the total: from several it could seem to go backwards.
        while (!threads.awaitTermination(50, TimeUnit.MILLISECONDS)) {
            MAILS.record(delivered.get());
        }
        MAILS.record(delivered.get());

        long total = 0;
        for (var each : served) {
            total += each.get();
        }
        System.out.println("served " + total + " requests, delivered " + delivered + " mails");
    }
}
