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
 *     try (var running = CHECKOUT.begin()) {
 *         if (!pay(basket)) {
 *             CARD_REFUSED.hit();
 *             running.abort();
 *         }
 *     }
 * }
 * }</pre>
 *
 * <h2>What a call costs</h2>
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
 * route}. Make one object per set of labels: to look one up allocates. Each set is an instance for
 * as long as the agent runs, so labels are for what has few values, such as routes, methods and
 * results: not for users, requests or moments. Sets beyond 1000 of one tag, and those that are
 * longer than 254 bytes as text, are counted under the bare tag ({@link
 * io.pcp.trace.Stats#labelsOver}, {@link io.pcp.trace.Stats#labelsCut}).
 *
 * <h2>Traces</h2>
 *
 * What one request causes in all programs that it passes through is a trace. They tell each other by
 * the headers {@code traceparent} and {@code tracestate} of W3C's Trace Context:
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
 * What comes in goes out again, also while tracing is {@linkplain io.pcp.trace.Trace.State#NOAGENT
 * switched off}; but not where the native library is not loaded. Without such headers there is no
 * trace, unless the environment says {@code PCP_TRACE_IDS=always}: then each outermost transaction
 * begins one. A program that was started within a trace, with {@code TRACEPARENT} in its
 * environment, as by {@code pmtrace -e}, continues it in what its main thread begins in the first
 * minute, if that thread is the first to use this package.
 *
 * <p>A transaction is attached to the thread that begins it: what begins there before it is closed is
 * inside of it. Work for it on other threads is told so, by {@link io.pcp.trace.Running#attach} or by
 * {@link io.pcp.trace.Transaction#beginUnder}. Whoever closes it on another thread than it was begun
 * on calls {@link io.pcp.trace.Running#detach} first, on the latter; else its tag is not taken for a
 * parent any more, since that may be wrong.
 *
 * <h2>Notes</h2>
 *
 * Whoever looks at a system with PCP may ask to see some transactions one by one, such as all that
 * take long (a capture). What the program notes of such a transaction is seen with it: {@link
 * io.pcp.trace.Running#note}, {@link io.pcp.trace.Running#link}, {@link io.pcp.trace.Running#fail}. Of
 * all others nothing is noted, and no text is copied.
 *
 * <p>Who sees a program's transactions sees these notes: they are no place for secrets.
 *
 * <h2>Allocation</h2>
 *
 * Calls allocate nothing, in Java or in native memory, but for one thing: {@link
 * io.pcp.trace.Transaction#begin()} makes a small object, which the JIT compiler removes again
 * where it stays within the method that made it, as with {@code try}. (HotSpot 17
 * was tried.) Where it does not, or where even interpreted code must not allocate, {@link
 * io.pcp.trace.Transaction#start()} gives the moment as a plain {@code long}. What gives a header
 * makes a string of it.
 *
 * <h2>Virtual threads</h2>
 *
 * All of this package may be called on virtual threads of Java 21 and later. What an open
 * transaction needs, its tag and when it began, is in the Java object (or in your {@code long}) and
 * nowhere else: not in a {@code ThreadLocal}, of which a million virtual threads would have a
 * million, and not with the carrier thread, which may be another one when the transaction ends. The
 * native library does keep a queue per carrier thread, but only from the beginning of a call to its
 * end, and a virtual thread does not leave its carrier within a native call. Such calls are short;
 * those that wait pin the carrier: {@link io.pcp.trace.Trace#flush} and every call in the state
 * {@link io.pcp.trace.Trace.State#SYNC}. The calls by name of {@link sgi.pcp.trace} know their
 * transactions by carrier thread and tag, so there two virtual threads can be in each other's way.
 *
 * <p>For the same reason nothing is attached to a virtual thread. There traces are passed on by hand:
 * {@code beginFrom}, {@code beginUnder} and {@link io.pcp.trace.Running#traceparent} work as anywhere,
 * while {@code begin} is inside of nothing, {@code attach} does nothing and {@link
 * io.pcp.trace.Trace#traceparent} gives null.
 *
 * <h2>The native library</h2>
 *
 * It is found on {@code java.library.path}, if that has the installation's {@code lib/jni}, or else
 * in the jar, from which it is unpacked for the moment of loading. A process has it once, however many
 * class loaders have this package, as in an application server. It contains the whole tracing
 * library and needs nothing but libc. From Java 24 on, {@code --enable-native-access=io.pcp.trace} (on the class
 * path: {@code ALL-UNNAMED}) keeps the JVM from warning of native code.
 *
 * <p>If neither works, say because {@code java.io.tmpdir} is mounted {@code noexec}, is full or is
 * missing, or because the jar has none for this processor, the first use says on standard error
 * what was tried, once, and the program runs on: calls do nothing, as in the state {@link
 * io.pcp.trace.Trace.State#NOAGENT}, which {@link io.pcp.trace.Trace#setState} then always tells of.
 * Who would rather not run untraced gives {@code -Dio.pcp.trace.required=true}: then the first use
 * throws an {@link java.lang.UnsatisfiedLinkError}.
 *
 * <p>The environment variables {@code PCP_TRACE_*} that say where the agent is are those of
 * pmtrace(3); what the process serves is, without {@code PCP_TRACE_SERVICE}, the main class or the jar
 * that was started. With {@code PCP_TRACE_NOAGENT} the native library is not even looked for.
 */
package io.pcp.trace;
