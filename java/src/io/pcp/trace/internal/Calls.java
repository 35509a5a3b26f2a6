// SPDX-License-Identifier: LGPL-2.1-or-later
package io.pcp.trace.internal;

import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Calls the native library if it is loaded. Otherwise does nothing, with the results of the state
 * NOAGENT: tracing must not break a program. Public for the other packages of this module; not
 * exported.
 */
public final class Calls {
    /** -ENOMEM. */
    public static final int OUT_OF_MEMORY = -12;

    /** -EINVAL. */
    public static final int INVALID = -22;

    private static final int STATE_NOAGENT = 16;
    private static final int ERR_TAGNAME = -12000;

    /** The state if the library is not loaded. */
    private static final AtomicInteger UNLOADED_STATE = new AtomicInteger(STATE_NOAGENT);

    // Final: the JIT compiler treats it as a constant, and removes the other branch.
    private static final boolean LOADED = Library.load();

    private Calls() {}

    /** Gives a handle, or a negative error code; 0 if the library is not loaded. */
    public static long tag(String name) {
        if (LOADED) {
            return Native.tag(name);
        }
        return TagName.isValid(name) ? 0 : ERR_TAGNAME;
    }

    /**
     * The same for a tag with labels.
     *
     * @param labels {@link Labels#problemOf} must have accepted them
     */
    public static long tagWith(String name, Map<String, String> labels) {
        if (!TagName.isValid(name)) {
            return tag(name);
        }
        if (!LOADED) {
            return 0;
        }
        var texts = new ArrayList<String>();
        texts.add(name);
        labels.forEach((label, value) -> Collections.addAll(texts, label, value));
        return Native.tagWith(bytesOf(texts));
    }

    /**
     * Gives the tag that has these labels as well, or the bare one if there is no room for them. 0:
     * no memory, or one is invalid or has no value, which is reported once.
     */
    static long addLabels(long tag, String... labels) {
        return LOADED ? Native.addLabels(tag, bytesOf(List.of(labels))) : 0;
    }

    /** Gives PCP's text of a tag. Requires: a handle of {@link #tag}, not 0. */
    public static String tagText(long tag) {
        return new String(Native.tagText(tag), StandardCharsets.UTF_8);
    }

    /** Describes a tag; either text may be null. */
    public static void describe(long tag, String unit, String text) {
        if (LOADED) {
            Native.describe(tag, bytesOf(List.of(unit != null ? unit : "",
                    text != null ? text : "")));
        }
    }

    /** Gives C strings, one after another. Replaces NUL in them by a blank. */
    private static byte[] bytesOf(List<String> texts) {
        var bytes = new StringBuilder();
        texts.forEach(text -> bytes.append(text.replace('\0', ' ')).append('\0'));
        return bytes.toString().getBytes(StandardCharsets.UTF_8);
    }

    /** Says why {@link #tag} gave an error. */
    public static String problemOf(String name, int error) {
        String flaw = name != null ? TagName.flawOf(name) : null;
        return flaw != null ? "Invalid tag: it " + flaw : errorText(error);
    }

    public static void point(long tag) {
        if (LOADED && !Attachments.record(0, tag, 0)) {
            Native.point(tag);
        }
    }

    public static void observe(long tag, double value) {
        if (LOADED && !Attachments.record(1, tag, value)) {
            Native.observe(tag, value);
        }
    }

    public static void count(long tag, double value) {
        if (LOADED && !Attachments.record(2, tag, value)) {
            Native.count(tag, value);
        }
    }

    public static void add(long tag, double increment) {
        if (LOADED && !Attachments.record(3, tag, increment)) {
            Native.add(tag, increment);
        }
    }

    /** Gives the open transaction's number; 0 if tracing is switched off. */
    public static long begin(long tag) {
        return !LOADED ? 0 : Attachments.areHere() ? Attachments.begin(tag) : Native.begin(tag, false);
    }

    /** Ends it under another tag; 0: its own, which may lack labels. */
    public static void end(long tag, long begun, long as) {
        if (LOADED) {
            Attachments.leave(tag, begun);
            Native.end(tag, begun, as);
        }
    }

    /** Begins one in the trace of these headers; either may be null. */
    public static long beginFrom(long tag, String traceparent, String tracestate) {
        return !LOADED ? 0 : Attachments.areHere()
                ? Attachments.keep(tag, Native.beginFrom(tag, traceparent, tracestate, true))
                : Native.beginFrom(tag, traceparent, tracestate, false);
    }

    /** Begins one inside of the parent; parentBegun 0: no parent. */
    public static long beginUnder(long tag, long parentTag, long parentBegun) {
        return !LOADED ? 0 : Attachments.areHere()
                ? Attachments.keep(tag, Native.beginUnder(tag, parentTag, parentBegun, true))
                : Native.beginUnder(tag, parentTag, parentBegun, false);
    }

    /** The same three for what began at this time of System.nanoTime(); 0 or later: now. */
    public static long beginAt(long tag, long start) {
        if (!LOADED) {
            return 0;
        }
        boolean isVirtual = Attachments.areHere();
        Attachments.Open around = isVirtual ? Attachments.innermost() : null;
        return kept(isVirtual, tag, around == null ? Native.beginAt(tag, start, isVirtual)
                : Native.beginUnderAt(tag, start, around.tag(), around.begun(), true));
    }

    public static long beginFromAt(long tag, long start, String traceparent, String tracestate) {
        if (!LOADED) {
            return 0;
        }
        boolean isVirtual = Attachments.areHere();
        return kept(isVirtual, tag,
                Native.beginFromAt(tag, start, traceparent, tracestate, isVirtual));
    }

    public static long beginUnderAt(long tag, long start, long parentTag, long parentBegun) {
        if (!LOADED) {
            return 0;
        }
        boolean isVirtual = Attachments.areHere();
        return kept(isVirtual, tag,
                Native.beginUnderAt(tag, start, parentTag, parentBegun, isVirtual));
    }

    private static long kept(boolean isVirtual, long tag, long begun) {
        return isVirtual ? Attachments.keep(tag, begun) : begun;
    }

    public static void attach(long tag, long begun) {
        if (LOADED && !Attachments.attach(tag, begun)) {
            Native.attach(tag, begun);
        }
    }

    public static void detach(long tag, long begun) {
        if (LOADED && !Attachments.detach(tag, begun)) {
            Native.detach(tag, begun);
        }
    }

    /** Gives the header for an outgoing request or null; tag 0: the calling thread's. */
    public static String traceparent(long tag, long begun) {
        if (tag == 0 && LOADED && Attachments.areHere()) {
            Attachments.Open open = Attachments.innermost();
            return open != null ? Native.traceparent(open.tag(), open.begun()) : null;
        }
        return LOADED ? Native.traceparent(tag, begun) : null;
    }

    public static String tracestate(long tag, long begun) {
        if (tag == 0 && LOADED && Attachments.areHere()) {
            Attachments.Open open = Attachments.innermost();
            return open != null ? Native.tracestate(open.tag(), open.begun()) : null;
        }
        return LOADED ? Native.tracestate(tag, begun) : null;
    }

    public static boolean isCaptured(long tag, long begun) {
        return LOADED && Native.isCaptured(tag, begun);
    }

    /** Takes a note if the transaction is captured; texts may be null. */
    public static void note(long tag, long begun, String key, String value) {
        if (isCaptured(tag, begun)) {
            Native.note(tag, begun, key, value);
        }
    }

    public static void note(long tag, long begun, String key, double value) {
        if (isCaptured(tag, begun)) {
            Native.noteNumber(tag, begun, key, value);
        }
    }

    public static void link(long tag, long begun, String traceparent) {
        if (isCaptured(tag, begun)) {
            Native.link(tag, begun, traceparent);
        }
    }

    public static void want(long tag, long begun, String why) {
        if (isCaptured(tag, begun)) {
            Native.want(tag, begun, why);
        }
    }

    /**
     * Aborts it in the same way. If it is captured, notes a reason that is not null: a text, or the
     * class and the message of an exception.
     */
    public static void fail(long tag, long begun, long as, Object reason) {
        if (LOADED) {
            Attachments.leave(tag, begun);
            Native.fail(tag, begun, as, !(reason instanceof Throwable problem) ? (String) reason
                    : isCaptured(tag, begun) ? reasonOf(problem) : null);
        }
    }

    private static String reasonOf(Throwable problem) {
        String name = problem.getClass().getName();
        try {
            String message = problem.getMessage();
            return message == null ? name : name + ": " + message;
        } catch (Throwable ofTheProgram) {
            return name;
        }
    }

    /** The calls by name, as trace_jni.c numbers them. */
    public enum ByName { BEGIN, END, ABORT, POINT, OBSERVE, COUNT, ADD }

    /**
     * Does a call by name. As in C, a switched-off one only checks for a missing tag.
     *
     * @param value only of OBSERVE, COUNT and ADD
     */
    public static int byName(ByName call, String tag, double value) {
        if (LOADED) {
            if (call == ByName.BEGIN && Attachments.areHere()) {
                Attachments.say("virtual threads of a carrier share a transaction by name, such as of"
                        + " pmtracebegin, and it has no parts: use io.pcp.trace.Transaction there");
            }
            return Native.byName(call.ordinal(), tag, value);
        }
        return tag == null || tag.isEmpty() ? ERR_TAGNAME : 0;
    }

    /** Gives the old flags, or a negative error code. */
    public static int state(int flags) {
        return LOADED ? Native.state(flags) : UNLOADED_STATE.getAndSet(flags | STATE_NOAGENT);
    }

    public static boolean flush(double seconds) {
        return LOADED && Native.flush(seconds);
    }

    /** Gives 0, or a negative error code. */
    public static int mmv(String name) {
        return LOADED ? Native.mmv(name) : 0;
    }

    /** Gives the members of pmtrace_stats_t in order. */
    public static long[] stats() {
        return LOADED ? Native.stats() : new long[15];
    }

    /** Gives the text of an error code. */
    public static String errorText(int code) {
        if (!LOADED) {
            return code == 0 ? "No error." : code == ERR_TAGNAME ? TagName.RULE : "Error " + code;
        }
        // Some texts are the C library's, in the locale's character set.
        return new String(Native.errorBytes(code),
                Charset.forName(System.getProperty("native.encoding")));
    }
}
