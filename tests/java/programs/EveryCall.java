// SPDX-License-Identifier: LGPL-2.1-or-later
import io.pcp.trace.Counter;
import io.pcp.trace.Observation;
import io.pcp.trace.Point;
import io.pcp.trace.Trace;
import io.pcp.trace.Transaction;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import sgi.pcp.trace;

/** Makes every call of the binding, and prints their results. */
final class EveryCall {
    private static final String TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    private static void byHandle() {
        Point.of("point").hit();
        Observation.of("observation").record(1.5);
        Counter.of("counter").record(2.5);
        Counter.of("added", Map.of("route", "/cart")).describe("bytes", null).add(2.5);
        Transaction transaction = Transaction.of("größe 😀");
        long started = transaction.start();
        transaction.end(started);
        transaction.abort(started);
        try (var running = transaction.begin()) {
            running.abort();
        }
        System.out.println("started " + started);
        try (var running = transaction.beginFrom(TRACE, "a=b"); var part = transaction.beginUnder(running);
                var attached = part.attach()) {
            System.out.println(running.traceparent() + " " + part.tracestate());
            running.detach();
        }
        transaction.beginFrom("\0").close();
        var noted = transaction.begin();
        noted.note("key", "text");
        noted.note("key", 1);
        noted.link(TRACE);
        noted.want("why");
        noted.label("key", "text");
        noted.label("key", 1);
        noted.label(null, null);
        noted.fail("reason");
        transaction.begin().endAs(transaction);
        transaction.begin().abortAs(null);
        System.out.println(noted.isCaptured());
        transaction.beginUnder(null).close();
        System.out.println(Trace.traceparent() + " " + Trace.tracestate());
    }

    private static void byName() {
        int[] results = {
            trace.pmtracebegin("a"), trace.pmtraceend("a"), trace.pmtraceabort("a"),
            trace.pmtracepoint("a"), trace.pmtraceobs("a", 1), trace.pmtracecounter("a", 1),
            trace.pmtracecount("a", 1)};
        for (int result : results) {
            System.out.print(result + " ");
        }
        System.out.println(trace.pmtracepoint(null) + " " + trace.pmtracebegin(""));
        System.out.println(trace.pmtraceerrstr(0));
    }

    private static void whatIsNoTag() {
        for (String name : List.of("", "a\0", "\ud83d", "€".repeat(85))) {
            try {
                System.out.println(Point.of(name));
            } catch (IllegalArgumentException e) {
                System.out.print("refused ");
            }
        }
        for (String label : List.of("Route", "agent")) {
            try {
                System.out.println(Point.of("a", Map.of(label, "")));
            } catch (IllegalArgumentException e) {
                System.out.print("refused ");
            }
        }
        System.out.println(Point.of("€".repeat(84) + "ab").tag().length());
    }

    private static void all() {
        System.out.println(Trace.setState(Trace.State.SYNC) + " " + Trace.setState());
        System.out.println(Trace.flush(Duration.ofDays(1)));
        System.out.println(Trace.stats());
    }

    public static void main(String[] arguments) {
        byHandle();
        byName();
        whatIsNoTag();
        all();
    }
}
