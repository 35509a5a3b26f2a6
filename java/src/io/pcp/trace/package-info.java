// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * Tells Performance Co-Pilot what a program does: its {@linkplain io.pcp.trace.Transaction
 * transactions}, {@linkplain io.pcp.trace.Point points}, {@linkplain io.pcp.trace.Observation
 * observations} and {@linkplain io.pcp.trace.Counter counters}, each under a name, its
 * <em>tag</em>. The agent pmdatrace adds up, and PCP's tools show the metrics {@code trace.*}.
 *
 * <pre>{@code
 * private static final Transaction CHECKOUT = Transaction.of("checkout");
 * private static final Point CARD_REFUSED = Point.of("card-refused");
 *
 * void checkOut(Basket basket) {
 *     CHECKOUT.run(running -> { // an exception aborts it
 *         if (!pay(basket)) {
 *             CARD_REFUSED.hit();
 *             running.abort();
 *         }
 *     });
 * }
 * }</pre>
 *
 * <h2>Cost of a call</h2>
 *
 * Make one object per tag, in a {@code static final} field. A call then costs little more than the
 * step from Java into native code. It takes no lock, makes no system call, and does not wait for
 * the agent, which may come and go: nothing that was counted is lost. A thread of the native
 * library sends the numbers, ten times a second and when the JVM exits. Nothing here throws once
 * the objects are made, and all of them may be used by any number of threads.
 *
 * <h2>Labels</h2>
 *
 * {@code Transaction.of("request", Map.of("route", "/cart"))} is counted apart from other requests;
 * PCP's tools show it as the instance <code>request{route=/cart}</code>, with the label {@code
 * route}. A tag has at most 16 labels. Their names are {@code [a-z][a-z0-9_]*} and not PCP's own.
 * Make one object per label set, since a lookup allocates. Each set is an instance for as
 * long as the agent runs, so use labels for few values, such as routes, methods and results, not
 * for users, requests or times. Sets beyond 1000 of one tag, and sets longer than 254 bytes as
 * text, are counted under the bare tag ({@link io.pcp.trace.Stats#labelsOver}, {@link
 * io.pcp.trace.Stats#labelsCut}).
 *
 * <p>For a label that is known only at the end, such as a status: {@link
 * io.pcp.trace.Running#label}, {@link io.pcp.trace.Running#endAs}.
 *
 * <h2>Traces</h2>
 *
 * A trace is what one request causes in all programs that it passes through. The headers {@code
 * traceparent} and {@code tracestate} of W3C's Trace Context carry it between programs:
 *
 * <pre>{@code
 * try (var running = REQUEST.beginFrom(incoming.header("traceparent"), incoming.header("tracestate"))) {
 *     String traceparent = Trace.traceparent();
 *     if (traceparent != null) {
 *         outgoing.header("traceparent", traceparent);
 *     }
 *     String tracestate = Trace.tracestate();
 *     if (tracestate != null) {
 *         outgoing.header("tracestate", tracestate);
 *     }
 * }
 * }</pre>
 *
 * Incoming headers go out again, also while tracing is {@linkplain io.pcp.trace.Trace.State#NOAGENT
 * switched off}, but not without the native library. Without headers there is no trace, unless the
 * environment has {@code PCP_TRACE_IDS=always}: then each outermost transaction begins one. A
 * program that was started within a trace ({@code TRACEPARENT} in its environment, as by {@code
 * pmtrace -e}) continues it in transactions of its main thread during the first minute, if that
 * thread is the first to use this package.
 *
 * <p>A transaction is attached to the thread that begins it: later transactions there are inside of
 * it until it is closed. For work on other threads use {@link io.pcp.trace.Running#attach} or
 * {@link io.pcp.trace.Transaction#beginUnder}. Before another thread closes a transaction, call
 * {@link io.pcp.trace.Running#detach} on the thread that began it. Otherwise transactions of its
 * tag are no parents any more, since a wrong parent is worse than none.
 *
 * <h2>Notes</h2>
 *
 * Users of PCP may ask to see some transactions one by one, such as all slow ones (a capture). They
 * then also see the program's notes on such a transaction: {@link io.pcp.trace.Running#note},
 * {@link io.pcp.trace.Running#link}, {@link io.pcp.trace.Running#fail}. Notes on other transactions
 * are ignored, without copying a text. {@link io.pcp.trace.Running#want} asks for a whole request.
 *
 * <p>Everybody who sees a program's transactions sees these notes: put no secrets into them.
 *
 * <h2>Allocation</h2>
 *
 * Calls allocate nothing, in Java or in native memory, with few exceptions: {@link
 * io.pcp.trace.Transaction#begin()} makes a small object, as do {@code run} and {@code call} if they
 * hand it over. The JIT compiler removes it if it stays within its method, as with {@code try}
 * (tried with HotSpot 17, 21 and 25). If it does not, or if even interpreted code must not
 * allocate, use {@link io.pcp.trace.Transaction#start()}, which gives a plain {@code long}. Calls
 * that give a header make a string, and {@code label} makes an array. On virtual threads an
 * attached transaction takes an object, too.
 *
 * <h2>Virtual threads</h2>
 *
 * All of this package may be called on virtual threads of Java 21 and later. The state of an open
 * transaction, its tag and its begin, is only in the Java object (or in your {@code long}), so it
 * costs a virtual thread no memory of its own, and the carrier thread may be another one at the
 * end. But close each: 65,536 that were left open on a carrier use up its room, and later ones
 * there are counted and timed, but captured no more. Only what is attached is in a {@code
 * ThreadLocal}: transactions that are captured or in a trace, and what begins inside of them. It is
 * not inherited: a new thread begins its part with {@code beginUnder} or {@code attach}, also in
 * structured concurrency.
 *
 * <p>The native library keeps a queue per carrier thread, but uses it only during a call, and a
 * virtual thread does not leave its carrier within a native call. Such calls are short. Calls that
 * wait pin the carrier: {@link io.pcp.trace.Trace#flush} and every call in the state {@link
 * io.pcp.trace.Trace.State#SYNC}.
 *
 * <p>Some things cannot nest on a virtual thread. The calls by name of {@link sgi.pcp.trace} find
 * transactions by carrier thread and tag, so two virtual threads can disturb each other: use {@link
 * io.pcp.trace.Transaction}. The trace of an attached transaction that another thread has ended is
 * not known any more: close it after its parts. The first time, each of these is said on standard
 * error. Copies of this package in two class loaders do not know each other's transactions there.
 *
 * <h2>The native library</h2>
 *
 * It is found on {@code java.library.path}, if that has the installation's {@code lib/jni}, or else
 * in the jar, from which it is unpacked for loading. A process has it once, however many class
 * loaders have this package, as in an application server. It contains the whole tracing library and
 * needs only libc. From Java 24 on, {@code --enable-native-access=io.pcp.trace} (on the class path:
 * {@code ALL-UNNAMED}) keeps the JVM from warning of native code. With {@code
 * --illegal-native-access=deny}, which a later Java will have by default, the library is not loaded
 * without that option. For {@code java -jar} the application's own jar may say the same in its
 * manifest: {@code Enable-Native-Access: ALL-UNNAMED}. The JVM does not read this in other jars.
 *
 * <p>Loading may fail: the JVM may deny it, {@code java.io.tmpdir} may be mounted {@code noexec},
 * full or missing, or the jar may have no library for this processor. Then the first use prints once on standard error
 * what was tried, and the program runs on. Calls do nothing, as in the state {@link
 * io.pcp.trace.Trace.State#NOAGENT}, which {@link io.pcp.trace.Trace#setState} then always reports.
 * With {@code -Dio.pcp.trace.required=true} the first use throws an {@link
 * java.lang.UnsatisfiedLinkError} instead.
 *
 * <p>The environment variables {@code PCP_TRACE_*} that tell where the agent is are in pmtrace(3).
 * Without {@code PCP_TRACE_SERVICE} the service is the main class or the started jar. With {@code
 * PCP_TRACE_NOAGENT} and without {@code PCP_TRACE_MMV} the native library is not even searched for.
 */
package io.pcp.trace;
