// SPDX-License-Identifier: LGPL-2.1-or-later
package io.pcp.trace;

import io.pcp.trace.internal.Calls;
import java.util.Map;
import java.util.concurrent.Callable;

/**
 * Something that takes time: counted, and timed with average, extrema and percentiles.
 * Thread-safe. Make one per tag.
 */
public final class Transaction {
    final long handle;
    private final String tag;

    private Transaction(long handle, String tag) {
        this.handle = handle;
        this.tag = tag;
    }

    /**
     * Looks the tag up, once and for all.
     *
     * @param tag 1 to 254 bytes of UTF-8, without NUL
     * @return the transaction of this tag
     * @throws IllegalArgumentException if this is no tag
     */
    public static Transaction of(String tag) {
        return new Transaction(Tags.find(tag), tag);
    }

    /**
     * Looks a tag with labels up, once and for all: each set of labels is counted apart.
     *
     * @param tag 1 to 254 bytes of UTF-8, without NUL
     * @param labels from names, {@code [a-z][a-z0-9_]*} and none that PCP gives, to values; at most
     *     16. The {@linkplain io.pcp.trace package} says what does not belong there
     * @return the transaction of this tag with these labels
     * @throws IllegalArgumentException if this is no tag, or one of these is no label
     */
    public static Transaction of(String tag, Map<String, String> labels) {
        long handle = Tags.find(tag, labels);
        return new Transaction(handle, Tags.text(handle, tag, labels));
    }

    /**
     * Says what the tag is about: PCP shows it as labels. Of what two places say, the first counts.
     *
     * @param unit what its values are measured in, such as "bytes"; null if that is not said
     * @param text what it stands for; null if that is not said
     * @return this
     */
    public Transaction describe(String unit, String text) {
        Calls.describe(handle, unit, text);
        return this;
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
     * Begins one that a request has asked for, in the trace of the headers that came with it. Never
     * throws for what is in them.
     *
     * @param traceparent the header of this name, as it is. Null or not valid: no trace that others know
     * @param tracestate the header of this name, as it is; or null
     * @return the transaction that runs until it is closed
     */
    public Running beginFrom(String traceparent, String tracestate) {
        return new Running(this, Calls.beginFrom(handle, traceparent, tracestate));
    }

    /**
     * As {@link #beginFrom(String, String)}, for a request without the other header.
     *
     * @param traceparent the header of this name, as it is; null if there is none
     * @return the transaction that runs until it is closed
     */
    public Running beginFrom(String traceparent) {
        return beginFrom(traceparent, null);
    }

    /**
     * Begins one that is a part of another, of whatever thread, which is still open. (Of one that may
     * have ended keep the headers instead, and use {@link #beginFrom(String, String)}.)
     *
     * @param parent the other one; null, or not open any more: it is a part of nothing
     * @return the transaction that runs until it is closed
     */
    public Running beginUnder(Running parent) {
        return new Running(this, parent != null ? parent.beginInside(handle)
                : Calls.beginUnder(handle, 0, 0));
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
     * Begins one without making an object, for code that keeps a number in an object of its own,
     * as asynchronous servers do: {@code request.started = CHECKOUT.start()}. Every start is to be
     * followed by one {@link #end} or {@link #abort}, on whichever thread; a second one does nothing
     * (unless more than 65,536 that this thread began are open: those beyond are not checked, nor in flight).
     *
     * @return a number for {@link #end} and {@link #abort} alone; 0 if tracing is switched off
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

    /** Aborts it for a reason, a text or null. Object, as {@link Running} has it. */
    void fail(long started, Object reason) {
        if (started != 0) {
            Calls.fail(handle, started, (String) reason);
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
     * @return as it was given to {@code of}, with its labels as {@code tag{name=value;name=value}}:
     *     the text by which PCP shows it, in which a value's blanks and signs are escaped
     */
    public String tag() {
        return tag;
    }

    @Override
    public String toString() {
        return "Transaction[" + tag + "]";
    }
}
