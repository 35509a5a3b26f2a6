// SPDX-License-Identifier: LGPL-2.1-or-later
package io.pcp.trace;

import io.pcp.trace.internal.Calls;

/**
 * A {@link Transaction} that runs until {@link #close} or {@link #abort}, whichever comes first;
 * what comes later does nothing.
 *
 * <p>{@code try} closes it also when its body throws. If such a transaction shall not count as
 * done, use {@link Transaction#call} or {@link Transaction#run}, or abort it within the body:
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
 * It may be closed on another thread than it was begun on. As with other objects, who hands it to
 * another thread must not use it any more.
 */
public final class Running implements AutoCloseable {
    // All that there is of an open transaction. See package-info for why it is here, and
    // native/trace_jni.c for why it is enough.
    private final Transaction transaction;
    private long started; // 0: not open any more

    Running(Transaction transaction, long started) {
        this.transaction = transaction;
        this.started = started;
    }

    /** Ends the transaction: it is counted, with the time since its beginning. */
    @Override
    public void close() {
        finish(this);
    }

    /** Gives the transaction up: it counts as aborted, and its time does not count. */
    public void abort() {
        finish(null);
    }

    /**
     * Makes this the one that the calling thread works on: what begins there before the end of
     * {@code try} is inside of it. For a task of a pool or of a {@code CompletableFuture}, which works
     * for a request that began elsewhere:
     *
     * <pre>{@code
     * pool.submit(() -> {
     *     try (var attached = running.attach()) {
     *         work();
     *     }
     * });
     * }</pre>
     *
     * Does nothing on a virtual thread, nor once this is closed: then nothing is known of it any more.
     *
     * @return what ends that; to be closed on the same thread
     */
    public Attached attach() {
        Calls.attach(transaction.handle, started);
        return new Attached(this);
    }

    /**
     * Ends what {@link #attach} did, or {@code begin}, which attaches as well: what begins on the
     * calling thread from now on is not inside of this. For an event loop that turns to another
     * request, and before another thread closes this.
     */
    public void detach() {
        Calls.detach(transaction.handle, started);
    }

    /**
     * Gives the header with which a request goes out that belongs to this.
     *
     * @return the header {@code traceparent}; null if this is in no trace, or not open any more
     */
    public String traceparent() {
        return Calls.traceparent(transaction.handle, started);
    }

    /**
     * Gives the other header, which goes with {@link #traceparent}.
     *
     * @return the header {@code tracestate}; null if there is none
     */
    public String tracestate() {
        return Calls.tracestate(transaction.handle, started);
    }

    /**
     * Says whether somebody has asked to see this one by itself (a capture). Only then the calls that
     * note something do so; of any other they cost some nanoseconds. Ask first if what is to be noted
     * takes time to be had, as a text does that is put together.
     *
     * @return whether what is noted of it is kept
     */
    public boolean isCaptured() {
        return Calls.isCaptured(transaction.handle, started);
    }

    /**
     * Notes what this is about. What is noted of the same key later replaces it.
     *
     * @param key of 1 to 128 bytes of UTF-8 without NUL; another one is not noted
     * @param value of which at most 4,096 bytes are noted; null: an empty text
     */
    public void note(String key, String value) {
        Calls.note(transaction.handle, started, key, value);
    }

    /**
     * Notes a number in the same way.
     *
     * @param key as that of a text
     * @param value the number
     */
    public void note(String key, double value) {
        Calls.note(transaction.handle, started, key, value);
    }

    /**
     * Notes another trace that this has to do with: such as that of each request which it answers at
     * once.
     *
     * @param traceparent the header of that trace, as it is. Null or not valid: nothing is noted
     */
    public void link(String traceparent) {
        Calls.link(transaction.handle, started, traceparent);
    }

    /**
     * Gives the transaction up, as {@link #abort} does, and notes why.
     *
     * @param reason of which at most 4,096 bytes are noted; or null
     */
    public void fail(String reason) {
        finish(reason);
    }

    long beginInside(long handle) {
        return Calls.beginUnder(handle, transaction.handle, started);
    }

    // One method for all three, for the sake of the JIT compiler. It takes the object away only if it
    // inlines every call that the object goes to; but the close() that "try" makes after an
    // exception, and an abort() or fail() in a "catch", it may never have seen in use. Such a call it
    // does inline if the method has six bytes of code at most (HotSpot's MaxTrivialSize), as the
    // three above have, and calls what is in use and has 35 at most (MaxInlineSize), as this has.
    //
    // So one argument says it all: this is closed, anything else aborted, for a reason if not null.
    private void finish(Object how) {
        long begun = started;
        started = 0;
        if (how == this) {
            transaction.end(begun);
            return;
        }
        transaction.fail(begun, how);
    }
}
