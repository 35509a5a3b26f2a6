// SPDX-License-Identifier: LGPL-2.1-or-later
import io.pcp.trace.Counter;
import io.pcp.trace.Observation;
import io.pcp.trace.Point;
import io.pcp.trace.Trace;
import io.pcp.trace.Transaction;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import sgi.pcp.trace;

/**
 * Measures a call from Java against an empty native call and System.nanoTime().
 *
 * <p>As for C (tests/bench): bursts of 1000 calls with pauses in which the library's thread catches
 * up, as in a program with other work. Each round has one burst of each kind, so that disturbances
 * hit all alike; a result is the median of all rounds. Needs an agent.
 *
 * <p>In build/release/java: {@code java -Djava.library.path=. -cp pcp-trace.jar:bench CallCost
 * [brief]}
 */
final class CallCost {
    private static final int CALLS = 1000;
    private static final long PAUSE_NS = 5_000_000;

    private static final Transaction REQUEST = Transaction.of("request");
    private static final Point PASSED = Point.of("passed");
    private static final Observation LENGTH = Observation.of("length");
    private static final Counter SENT = Counter.of("sent");
    private static final Counter SERVED = Counter.of("served");

    /** Takes results, so that the compiler does not remove their computation. */
    private static volatile long blackhole;

    private static long sent;

    private interface Burst {
        void make(int calls);
    }

    private static native void nothing(long argument);

    /** Each burst has its own loop, which the compiler optimises as a whole. */
    private static Map<String, Burst> bursts() {
        var bursts = new LinkedHashMap<String, Burst>();
        bursts.put("empty native call", calls -> {
            for (int i = 0; i < calls; i++) {
                nothing(i);
            }
        });
        bursts.put("System.nanoTime", calls -> {
            long sum = 0;
            for (int i = 0; i < calls; i++) {
                sum += System.nanoTime();
            }
            blackhole = sum;
        });
        bursts.put("point", calls -> {
            for (int i = 0; i < calls; i++) {
                PASSED.hit();
            }
        });
        bursts.put("observe", calls -> {
            for (int i = 0; i < calls; i++) {
                LENGTH.record(i);
            }
        });
        bursts.put("count", calls -> {
            for (int i = 0; i < calls; i++) {
                SENT.record(sent + i); // grows, or the library would complain
            }
            sent += calls;
        });
        bursts.put("add", calls -> {
            for (int i = 0; i < calls; i++) {
                SERVED.add(1);
            }
        });
        bursts.put("begin and end", calls -> {
            for (int i = 0; i < calls; i++) {
                try (var running = REQUEST.begin()) {
                    // neither call can be removed
                }
            }
        });
        bursts.put("begin, label, end", calls -> {
            for (int i = 0; i < calls; i++) {
                try (var running = REQUEST.begin()) {
                    running.label("status", 200 + i % 4);
                }
            }
        });
        bursts.put("point by name", calls -> {
            for (int i = 0; i < calls; i++) {
                trace.pmtracepoint("passed-by-name");
            }
        });
        return bursts;
    }

    private static double measure(Burst burst) {
        long rested = System.nanoTime() + PAUSE_NS;
        while (System.nanoTime() < rested) {
            Thread.onSpinWait();
        }
        long began = System.nanoTime();
        burst.make(CALLS);
        return (double) (System.nanoTime() - began) / CALLS;
    }

    private static double median(double[] values) {
        Arrays.sort(values);
        return values[values.length / 2];
    }

    public static void main(String[] arguments) {
        boolean brief = arguments.length > 0 && arguments[0].equals("brief");
        int rounds = brief ? 3 : 301;
        int warmUps = brief ? 3 : 301;
        System.loadLibrary("empty_call");
        if (trace.pmtracepoint("passed-by-name") != 0) {
            System.err.println("CallCost: there is no agent");
            System.exit(1);
        }

        var bursts = bursts();
        var samples = new LinkedHashMap<String, double[]>();
        bursts.keySet().forEach(name -> samples.put(name, new double[rounds]));
        var order = new ArrayList<>(bursts.entrySet());
        for (int round = -warmUps; round < rounds; round++) {
            // Otherwise the same kind would always fill the queue.
            Collections.shuffle(order);
            for (var burst : order) {
                double ns = measure(burst.getValue());
                if (round >= 0) {
                    samples.get(burst.getKey())[round] = ns;
                }
            }
        }

        double empty = median(samples.get("empty native call"));
        samples.forEach((name, values) -> System.out.printf(
                "%-18s %6.1f ns a call %6.2f times an empty one%n",
                name, median(values), median(values) / empty));
        Trace.flush(Duration.ofSeconds(10));
        var stats = Trace.stats();
        System.out.printf("%d calls recorded, %d of them with their queue full, %d acknowledged%n",
                stats.recorded(), stats.merged(), stats.acknowledged());
    }
}
