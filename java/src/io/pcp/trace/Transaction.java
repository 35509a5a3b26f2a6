// SPDX-License-Identifier: LGPL-2.1-or-later
package io.pcp.trace;

import io.pcp.trace.internal.Calls;
import io.pcp.trace.internal.LateLabels;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.Consumer;

/**
 * Something that takes time: counted, and timed with average, extrema and percentiles.
 * Thread-safe. Make one per tag.
 *
 * <p>A {@link StackOverflowError} may leave transactions open, those whose end finds no stack
 * either: they stay in flight until the process ends.
 */
public final class Transaction extends Tagged {
    static {
        Running.makeKnown();
    }

    private Transaction(String tag, Map<String, String> labels) {
        super(tag, labels);
    }

    /**
     * Looks the tag up once.
     *
     * @param tag 1 to 254 bytes of UTF-8, without NUL
     * @return the transaction of this tag
     * @throws IllegalArgumentException if the tag is invalid
     */
    public static Transaction of(String tag) {
        return new Transaction(tag, Map.of());
    }

    /**
     * Looks up a tag with labels once. Each set of labels is counted apart.
     *
     * @param tag 1 to 254 bytes of UTF-8, without NUL
     * @param labels names and values; see the {@linkplain io.pcp.trace package}
     * @return the transaction of this tag with these labels
     * @throws IllegalArgumentException if the tag or a label is invalid
     */
    public static Transaction of(String tag, Map<String, String> labels) {
        return new Transaction(tag, labels);
    }

    @Override
    public Transaction describe(String unit, String text) {
        super.describe(unit, text);
        return this;
    }

    /**
     * Begins a transaction, for use with {@code try}. Any number may be open at once.
     *
     * @return the running transaction
     */
    public Running begin() {
        return new Running(this, start());
    }

    /**
     * Begins a transaction that began earlier, such as a request that waited in a queue.
     *
     * @param since the time by {@code System.nanoTime()}; 0 or in the future: now
     * @return the running transaction
     */
    public Running begin(long since) {
        return new Running(this, Calls.beginAt(handle, since));
    }

    /**
     * Begins a transaction for a request, in the trace of the request's headers. Never throws for
     * invalid headers.
     *
     * @param traceparent the request's header. Null or invalid: in no trace of other programs
     * @param tracestate the request's header, or null
     * @return the running transaction
     */
    public Running beginFrom(String traceparent, String tracestate) {
        return new Running(this, Calls.beginFrom(handle, traceparent, tracestate));
    }

    /**
     * The same as {@link #beginFrom(String, String)} for what began earlier.
     *
     * @param traceparent the request's header; null: none
     * @param tracestate the request's header, or null
     * @param since as in {@link #begin(long)}
     * @return the running transaction
     */
    public Running beginFrom(String traceparent, String tracestate, long since) {
        return new Running(this, Calls.beginFromAt(handle, since, traceparent, tracestate));
    }

    /**
     * The same as {@link #beginFrom(String, String)} without {@code tracestate}.
     *
     * @param traceparent the request's header; null: none
     * @return the running transaction
     */
    public Running beginFrom(String traceparent) {
        return beginFrom(traceparent, null);
    }

    /**
     * Begins a part of another transaction, of any thread, which is still open. (If the other may
     * have ended, keep its headers and use {@link #beginFrom(String, String)}.)
     *
     * @param parent the other transaction; null or closed: this has no parent
     * @return the running transaction
     */
    public Running beginUnder(Running parent) {
        return new Running(this, parent != null ? parent.beginInside(handle)
                : Calls.beginUnder(handle, 0, 0));
    }

    /**
     * The same as {@link #beginUnder(Running)} for what began earlier.
     *
     * @param parent the other transaction; null or closed: this has no parent
     * @param since as in {@link #begin(long)}
     * @return the running transaction
     */
    public Running beginUnder(Running parent, long since) {
        return new Running(this, parent != null ? parent.beginInside(handle, since)
                : Calls.beginUnderAt(handle, since, 0, 0));
    }

    /**
     * Does some work in a transaction. An exception aborts it: it counts as failed. If it is
     * captured, the exception's class and message are the reason.
     *
     * @param <T> the type of the work's result
     * @param work what to do
     * @return the work's result
     * @throws Exception the work's exception
     */
    public <T> T call(Callable<T> work) throws Exception {
        long started = start();
        try {
            T result = work.call();
            end(started);
            return result;
        } catch (Throwable problem) {
            failAs(this, started, this, null, problem);
            throw problem;
        }
    }

    /**
     * Work that is given its transaction.
     *
     * @param <T> the type of its result
     */
    @FunctionalInterface
    public interface Work<T> {
        /**
         * Does the work.
         *
         * @param running its transaction
         * @return its result
         * @throws Exception aborts the transaction
         */
        T call(Running running) throws Exception;
    }

    /**
     * The same for work that notes, labels or fails its transaction: {@code CHECKOUT.call(running
     * -> ...)}. If the work ends the transaction by itself, it goes on outside.
     *
     * @param <T> the type of the work's result
     * @param work what to do
     * @return the work's result
     * @throws Exception the work's exception
     */
    public <T> T call(Work<T> work) throws Exception {
        Running running = begin();
        try {
            T result = work.call(running);
            running.close();
            return result;
        } catch (Throwable problem) {
            running.failBy(problem);
            throw problem;
        }
    }

    /**
     * Does some work without a result, like {@link #call(Callable)}.
     *
     * @param work what to do
     */
    public void run(Runnable work) {
        long started = start();
        try {
            work.run();
            end(started);
        } catch (Throwable problem) {
            failAs(this, started, this, null, problem);
            throw problem;
        }
    }

    /**
     * Does some work without a result, like {@link #call(Work)}.
     *
     * @param work what to do
     */
    public void run(Consumer<Running> work) {
        Running running = begin();
        try {
            work.accept(running);
            running.close();
        } catch (Throwable problem) {
            running.failBy(problem);
            throw problem;
        }
    }

    /**
     * Begins a transaction without making an object, for code that keeps the number in its own
     * object, as asynchronous servers do: {@code request.started = CHECKOUT.start()}. Follow each
     * start by one {@link #end} or {@link #abort}, on any thread; a second one does nothing (except
     * beyond 65,536 open ones of a thread: those are not checked, nor reported in flight).
     *
     * @return a number only for {@link #end} and {@link #abort}; 0 if tracing is switched off
     */
    public long start() {
        return Calls.begin(handle);
    }

    /**
     * Ends a transaction of {@link #start}.
     *
     * @param started the number from {@code start}; 0 does nothing
     */
    public void end(long started) {
        endAs(this, started, this, null);
    }

    /** Does what {@link Running} asks for: its reason is a String, a Throwable or null unless it is done. */
    static void finish(Transaction transaction, long started, String[] labels, Object reason,
            boolean isDone) {
        if (isDone) {
            endAs(transaction, started, transaction, labels);
        } else {
            failAs(transaction, started, transaction, labels, reason);
        }
    }

    /** Ends a transaction under another tag, with labels as well; both may be null. */
    static void endAs(Transaction transaction, long started, Transaction other, String[] labels) {
        if (started != 0) {
            Calls.end(transaction.handle, started, handleOf(other, labels));
        }
    }

    static void failAs(Transaction transaction, long started, Transaction other, String[] labels,
            Object reason) {
        if (started != 0) {
            Calls.fail(transaction.handle, started, handleOf(other, labels), reason);
        }
    }

    private static long handleOf(Transaction transaction, String[] labels) {
        if (transaction == null) {
            return 0;
        }
        return labels == null ? transaction.handle : LateLabels.addedTo(transaction.handle, labels);
    }

    /**
     * Aborts a transaction of {@link #start}: it counts as failed.
     *
     * @param started the number from {@code start}; 0 does nothing
     */
    public void abort(long started) {
        failAs(this, started, this, null, null);
    }
}
