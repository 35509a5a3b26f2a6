// SPDX-License-Identifier: LGPL-2.1-or-later
package io.pcp.trace;

import io.pcp.trace.internal.Calls;
import java.util.concurrent.Callable;

/**
 * Something that takes time: counted, and timed with average, extrema and percentiles.
 * Thread-safe. Make one per tag.
 */
public final class Transaction {
    private final String tag;
    private final long handle;

    private Transaction(String tag) {
        this.tag = tag;
        this.handle = Tags.find(tag);
    }

    /**
     * Looks the tag up, once and for all.
     *
     * @param tag 1 to 254 bytes of UTF-8, without NUL
     * @return the transaction of this tag
     * @throws IllegalArgumentException if this is no tag
     */
    public static Transaction of(String tag) {
        return new Transaction(tag);
    }

    /**
     * Begins one, to be used with {@code try}. Any number may be open at once.
     *
     * @return the transaction that runs until it is closed
     */
    public Running begin() {
        return new Running(this, start());
    }

    /**
     * Does some work as one of these. An exception aborts it: it counts as aborted, and its time
     * does not count.
     *
     * @param <T> what the work gives
     * @param work what to do
     * @return what it gives
     * @throws Exception what it throws
     */
    public <T> T call(Callable<T> work) throws Exception {
        long started = start();
        try {
            T result = work.call();
            end(started);
            return result;
        } catch (Throwable problem) {
            abort(started);
            throw problem;
        }
    }

    /**
     * Does some work that gives nothing, as {@link #call} does.
     *
     * @param work what to do
     */
    public void run(Runnable work) {
        long started = start();
        try {
            work.run();
            end(started);
        } catch (Throwable problem) {
            abort(started);
            throw problem;
        }
    }

    /**
     * Begins one without making an object, for code that keeps the moment in an object of its own,
     * as asynchronous servers do: {@code request.started = CHECKOUT.start()}. Every start is to be
     * followed by one {@link #end} or {@link #abort}, on whichever thread.
     *
     * @return the moment of the beginning, for {@link #end} and {@link #abort} alone; 0 if tracing
     *     is switched off
     */
    public long start() {
        return Calls.begin(handle);
    }

    /**
     * Ends what {@link #start} began.
     *
     * @param started what it returned; 0 does nothing
     */
    public void end(long started) {
        if (started != 0) {
            Calls.end(handle, started);
        }
    }

    /**
     * Gives up what {@link #start} began: it counts as aborted, and its time does not count.
     *
     * @param started what it returned; 0 does nothing
     */
    public void abort(long started) {
        if (started != 0) {
            Calls.abort(handle, started);
        }
    }

    /**
     * Gives the tag.
     *
     * @return as it was given to {@link #of}
     */
    public String tag() {
        return tag;
    }

    @Override
    public String toString() {
        return "Transaction[" + tag + "]";
    }
}
