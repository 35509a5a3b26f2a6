// SPDX-License-Identifier: LGPL-2.1-or-later
import io.pcp.trace.Running;
import io.pcp.trace.Trace;
import io.pcp.trace.Transaction;
import java.lang.reflect.Method;
import java.util.concurrent.CompletableFuture;
import sgi.pcp.trace;

/**
 * Prints the trace of each place: of main, of another thread, and of virtual threads.
 *
 * <p>Traces [off|virtual|outside]
 */
final class Traces {
    private static final String TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    private static final Transaction REQUEST = Transaction.of("request");
    private static final Transaction STEP = Transaction.of("step");

    private static void print(String what, Object value) {
        System.out.println(what + ": " + value);
    }

    private static void onMain() {
        print("thread", Trace.traceparent() + " " + Trace.tracestate());
        Running running = REQUEST.begin();
        print("begun", running.traceparent());
        print("within", Trace.traceparent());
        STEP.run(() -> print("step", Trace.traceparent()));
        running.close();
        print("closed", running.traceparent());
        running.detach();
        print("after", Trace.traceparent());
        try (var from = REQUEST.beginFrom(TRACE, "a=b")) {
            print("from", from.traceparent() + " " + from.tracestate());
        }
    }

    /** Leaves transactions open: the next thread on the same carrier must not become part of them. */
    private static void onVirtual() {
        print("virtual", Trace.traceparent());
        Running begun = REQUEST.begin();
        Running from = REQUEST.beginFrom(TRACE, "a=b");
        Running under = STEP.beginUnder(from);
        var attached = under.attach();
        print("virtual from", from.traceparent() + " " + from.tracestate());
        print("virtual under", under.traceparent());
        print("virtual thread", Trace.traceparent());
        print("virtual begun has one", begun.traceparent() != null);
        attached.close();
        under.close();
    }

    /** Begins what cannot nest. */
    private static void outside() {
        trace.pmtracebegin("by name");
        trace.pmtraceend("by name");
        Running ended = REQUEST.beginFrom(TRACE);
        try (var attached = ended.attach()) {
            CompletableFuture.runAsync(ended::close).join();
            STEP.run(step -> print("outside", step.traceparent()));
        }
        STEP.run(step -> print("outside", step.traceparent()));
    }

    public static void main(String[] arguments) throws Exception {
        String what = arguments.length > 0 ? arguments[0] : "";
        if (what.equals("off")) {
            Trace.setState(Trace.State.NOAGENT);
        }
        onMain();
        var other = new Thread(() -> print("other thread", Trace.traceparent()));
        other.start();
        other.join();
        if (what.equals("virtual") || what.equals("outside")) {
            Runnable work = what.equals("virtual") ? Traces::onVirtual : Traces::outside;
            Method start = Thread.class.getMethod("startVirtualThread", Runnable.class);
            for (int i = 0; i < 2; i++) {
                ((Thread) start.invoke(null, work)).join();
            }
        }
    }
}
