// SPDX-License-Identifier: LGPL-2.1-or-later
import io.pcp.trace.Running;
import io.pcp.trace.Trace;
import io.pcp.trace.Transaction;
import sgi.pcp.trace;

/** Begins two seconds ago, in each form and on a virtual thread where there are any; and the calls of MMV. */
final class Earlier {
    private static final String HEADER = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    private static final long SINCE = System.nanoTime() - 2_000_000_000L;

    private static void end(Running running) {
        System.out.println(HEADER.substring(0, 35).equals(("" + running.traceparent()).substring(0, 35)));
        running.close();
    }

    private static void begin() {
        Transaction.of("alone").begin(SINCE).close();
        var whole = Transaction.of("whole").beginFrom(HEADER, null, SINCE);
        end(Transaction.of("inside").begin(SINCE));
        end(Transaction.of("under").beginUnder(whole, SINCE));
        end(whole);
        Transaction.of("orphan").beginUnder(null, SINCE).close();
    }

    private static String refusalOf(String name) {
        try {
            Trace.mmv(name);
            return "none";
        } catch (IllegalArgumentException | IllegalStateException refused) {
            return refused.getMessage().length() > 200 ? "long" : refused.getClass().getSimpleName();
        }
    }

    public static void main(String[] arguments) throws Exception {
        System.out.println(refusalOf("no name") + " " + refusalOf(null) + " " + refusalOf("a".repeat(100_000)));
        begin();
        System.out.println(refusalOf("late"));
        trace.pmtraceadd("sum", 2.5);
        Transaction.of("first").begin().failAs(Transaction.of("other"), "reason");
        if (arguments.length > 0) {
            Thread thread = (Thread) Thread.class.getMethod("startVirtualThread", Runnable.class)
                    .invoke(null, (Runnable) Earlier::begin);
            thread.join();
        }
    }
}
