// SPDX-License-Identifier: LGPL-2.1-or-later
package io.pcp.trace;

import io.pcp.trace.internal.Calls;
import io.pcp.trace.internal.LateLabels;
import java.util.function.Consumer;

/**
 * A {@link Transaction} that runs until the first {@link #close}, {@link #abort}, {@link #fail},
 * {@link #endAs} or {@link #abortAs}. Later ones do nothing.
 *
 * <p>{@code try} also closes the transaction if its body throws. If it must then count as aborted,
 * use {@link Transaction#call(Transaction.Work)} or {@link Transaction#run(Consumer)}, or abort it
 * within the body:
 *
 * <pre>{@code
 * try (var running = CHECKOUT.begin()) {
 *     try {
 *         work();
 *     } catch (IOException e) {
 *         running.abort();
 *         throw e;
 *     }
 * }
 * }</pre>
 *
 * It may be closed on another thread than it was begun on. After handing it to another thread, do
 * not use it any more.
 */
public final class Running implements AutoCloseable {
    // HotSpot uses a profile of 10,000 calls (twice Tier4InvocationThreshold), and begins it within
    // the first 512.
    private static final int CALLS_OF_A_PROFILE = 12_000;

    // The whole state of an open transaction. See package-info for the reason, and
    // native/trace_jni.c for why it suffices.
    private final Transaction transaction; // null: only of makeKnown
    private long started; // 0: closed
    private String[] labels; // for the end, names and values by turns; null: none

    /** Calls fail() so often that the JIT compiler has a profile of it: see finish. */
    static void makeKnown() {
        var closed = new Running(null, 0);
        for (int i = 0; i < CALLS_OF_A_PROFILE; i++) {
            closed.fail(null);
        }
    }

    Running(Transaction transaction, long started) {
        this.transaction = transaction;
        this.started = started;
    }

    /** Ends the transaction: it is counted, with the time since its beginning. */
    @Override
    public void close() {
        finish(this);
    }

    /** Aborts the transaction: it counts as failed. */
    public void abort() {
        fail(null);
    }

    /**
     * Adds a label that is known only now, such as a status: this ends, aborts or fails under its
     * tag with this label as well. Until then it is in flight under the tag that it began with. A
     * later value of a label replaces an earlier one, also one of the tag.
     *
     * <p>An invalid label never throws: it is reported once on standard error, and this ends under
     * its tag without any label added here. A null label, or one with NUL, is only left out.
     *
     * @param key its name; see the {@linkplain io.pcp.trace package}
     * @param value one of few different ones
     */
    public void label(String key, String value) {
        if (started != 0) {
            labels = LateLabels.with(labels, transaction.handle, key, value);
        }
    }

    /**
     * Adds a number as a label in the same way.
     *
     * @param key as for texts
     * @param value the number
     */
    public void label(String key, long value) {
        label(key, Long.toString(value));
    }

    /**
     * Ends this under another tag, with the {@linkplain #label labels} added here.
     *
     * @param other the other tag; null: under its own tag, without these labels
     */
    public void endAs(Transaction other) {
        long begun = started;
        started = 0;
        Transaction.endAs(transaction, begun, other, labels);
    }

    /**
     * Aborts this under another tag: it counts there as failed.
     *
     * @param other as for {@link #endAs}
     */
    public void abortAs(Transaction other) {
        long begun = started;
        started = 0;
        Transaction.failAs(transaction, begun, other, labels, null);
    }

    /**
     * Aborts this under another tag, and notes the reason.
     *
     * @param other as for {@link #endAs}
     * @param reason as for {@link #fail}
     */
    public void failAs(Transaction other, String reason) {
        long begun = started;
        started = 0;
        Transaction.failAs(transaction, begun, other, labels, reason);
    }

    /**
     * Attaches this to the calling thread: transactions that begin there before the end of {@code
     * try} are inside of this. For a task of a pool or of a {@code CompletableFuture} that works
     * for a request from elsewhere:
     *
     * <pre>{@code
     * pool.submit(() -> {
     *     try (var attached = running.attach()) {
     *         work();
     *     }
     * });
     * }</pre>
     *
     * Does nothing after this was closed, when its trace is not known any more.
     *
     * @return ends the attachment; close it on the same thread
     */
    public Attached attach() {
        Calls.attach(transaction.handle, started);
        return new Attached(this);
    }

    /**
     * Ends the attachment by {@link #attach} or {@code begin}: later transactions of the calling
     * thread are not inside of this. For an event loop that turns to another request, and before
     * another thread closes this.
     */
    public void detach() {
        Calls.detach(transaction.handle, started);
    }

    /**
     * Gives the header for an outgoing request of this transaction.
     *
     * @return the header {@code traceparent}; null if there is no trace, or this is closed
     */
    public String traceparent() {
        return Calls.traceparent(transaction.handle, started);
    }

    /**
     * Gives the second header, to send with {@link #traceparent}.
     *
     * @return the header {@code tracestate}; null if there is none
     */
    public String tracestate() {
        return Calls.tracestate(transaction.handle, started);
    }

    /**
     * Tells whether somebody asked to see this transaction by itself (a capture). The calls that
     * take notes work only then; otherwise they cost some nanoseconds. Check first if a note takes
     * time to make, such as a composed text.
     *
     * @return whether notes on it are kept
     */
    public boolean isCaptured() {
        return Calls.isCaptured(transaction.handle, started);
    }

    /**
     * Notes an attribute. A later note with the same key replaces it.
     *
     * @param key of 1 to 128 bytes of UTF-8 without NUL; other keys are ignored
     * @param value cut after 4,096 bytes; null: an empty text
     */
    public void note(String key, String value) {
        Calls.note(transaction.handle, started, key, value);
    }

    /**
     * Notes a number in the same way.
     *
     * @param key as for texts
     * @param value the number
     */
    public void note(String key, double value) {
        Calls.note(transaction.handle, started, key, value);
    }

    /**
     * Notes a related trace: for example of each request that this transaction answers together.
     *
     * @param traceparent the other trace's header. Null or invalid: nothing is noted
     */
    public void link(String traceparent) {
        Calls.link(transaction.handle, started, traceparent);
    }

    /**
     * Asks monitors with the word {@code wanted} for the whole request of this transaction, in all
     * programs.
     *
     * @param why becomes the note "wanted", cut after 4,096 bytes; null: no note
     */
    public void want(String why) {
        Calls.want(transaction.handle, started, why);
    }

    /**
     * Aborts this, as {@link #abort} does, and notes the reason.
     *
     * @param reason cut after 4,096 bytes; or null
     */
    public void fail(String reason) {
        finish(reason);
    }

    /** Aborts this with an exception's class and message as the reason, unless it is over. */
    void failBy(Throwable problem) {
        finish(problem);
    }

    long beginInside(long handle) {
        return Calls.beginUnder(handle, transaction.handle, started);
    }

    long beginInside(long handle, long since) {
        return Calls.beginUnderAt(handle, since, transaction.handle, started);
    }

    // One method for all three, for the JIT compiler. It removes the object only if it inlines
    // every call with the object. It may never have seen the close() after an exception in use, nor
    // an abort() or fail() in a "catch". It inlines unused calls of at most six bytes of code
    // (HotSpot's MaxTrivialSize), such as the three above, and used calls of at most 35
    // (MaxInlineSize), such as this. Since version 18 it has to have a profile of the method that
    // makes a call, such as of fail(), which a program may have called too seldom: makeKnown()
    // calls it.
    //
    // `how`: this: close; otherwise abort, with the reason if not null.
    private void finish(Object how) {
        long begun = started;
        started = 0;
        Transaction.finish(transaction, begun, labels, how, how == this);
    }
}
