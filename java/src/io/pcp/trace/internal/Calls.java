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
 * The native library's calls where it is loaded; where it is not, nothing, with the results of a
 * library in the state NOAGENT: tracing must not break a program. Public for the other packages of
 * this module; not exported.
 */
public final class Calls {
    /** -ENOMEM. */
    public static final int OUT_OF_MEMORY = -12;

    private static final int STATE_NOAGENT = 16;
    private static final int ERR_TAGNAME = -12000;

    /** The state of a library that is not there. */
    private static final AtomicInteger UNLOADED_STATE = new AtomicInteger(STATE_NOAGENT);

    // Final: the JIT compiler takes it for a constant, and a loaded library's calls for all there is.
    private static final boolean LOADED = Library.load();

    private Calls() {}

    /** Gives a handle, or a negative error code; 0 where the library is not loaded. */
    public static long tag(String name) {
        if (LOADED) {
            return Native.tag(name);
        }
        return TagName.isValid(name) ? 0 : ERR_TAGNAME;
    }

    /**
     * The same for a tag with labels.
     *
     * @param labels those that {@link #problemOf(Map)} finds nothing wrong with
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

    /** Says what is wrong with labels; null if nothing is. */
    public static String problemOf(Map<String, String> labels) {
        return Labels.problemOf(labels);
    }

    /** Gives the text by which PCP shows a tag; only where {@link #tag} has given one but 0. */
    public static String tagText(long tag) {
        return new String(Native.tagText(tag), StandardCharsets.UTF_8);
    }

    /** Says what a tag is about; null where that is not said. */
    public static void describe(long tag, String unit, String text) {
        if (LOADED) {
            Native.describe(tag, bytesOf(List.of(unit != null ? unit : "",
                    text != null ? text : "")));
        }
    }

    /** Gives C strings, one after another. None has NUL in it: nobody's words end early. */
    private static byte[] bytesOf(List<String> texts) {
        var bytes = new StringBuilder();
        texts.forEach(text -> bytes.append(text.replace('\0', ' ')).append('\0'));
        return bytes.toString().getBytes(StandardCharsets.UTF_8);
    }

    /** Says why {@link #tag} gave an error. */
    public static String problemOf(String name, int error) {
        String problem = TagName.problemOf(name);
        return problem != null ? problem : errorText(error);
    }

    public static void point(long tag) {
        if (LOADED) {
            Native.point(tag);
        }
    }

    public static void observe(long tag, double value) {
        if (LOADED) {
            Native.observe(tag, value);
        }
    }

    public static void count(long tag, double value) {
        if (LOADED) {
            Native.count(tag, value);
        }
    }

    public static void add(long tag, double increment) {
        if (LOADED) {
            Native.add(tag, increment);
        }
    }

    /** Gives a number that stands for the open transaction, 0 if tracing is switched off. */
    public static long begin(long tag) {
        return LOADED ? Native.begin(tag) : 0;
    }

    public static void end(long tag, long begun) {
        if (LOADED) {
            Native.end(tag, begun);
        }
    }

    public static void abort(long tag, long begun) {
        if (LOADED) {
            Native.abort(tag, begun);
        }
    }

    /** Begins one of the trace of these headers, either of which may be null. */
    public static long beginFrom(long tag, String traceparent, String tracestate) {
        return LOADED ? Native.beginFrom(tag, traceparent, tracestate) : 0;
    }

    /** Begins one inside of another; of none if the number of that one is 0. */
    public static long beginUnder(long tag, long parentTag, long parentBegun) {
        return LOADED ? Native.beginUnder(tag, parentTag, parentBegun) : 0;
    }

    public static void attach(long tag, long begun) {
        if (LOADED) {
            Native.attach(tag, begun);
        }
    }

    public static void detach(long tag, long begun) {
        if (LOADED) {
            Native.detach(tag, begun);
        }
    }

    /** Gives the header for what goes out, null if there is none; tag 0: of the calling thread. */
    public static String traceparent(long tag, long begun) {
        return LOADED ? Native.traceparent(tag, begun) : null;
    }

    public static String tracestate(long tag, long begun) {
        return LOADED ? Native.tracestate(tag, begun) : null;
    }

    public static boolean isCaptured(long tag, long begun) {
        return LOADED && Native.isCaptured(tag, begun);
    }

    /** Notes something of one that is captured; any text may be null. */
    public static void note(long tag, long begun, String key, String value) {
        if (LOADED) {
            Native.note(tag, begun, key, value);
        }
    }

    public static void note(long tag, long begun, String key, double value) {
        if (LOADED) {
            Native.noteNumber(tag, begun, key, value);
        }
    }

    public static void link(long tag, long begun, String traceparent) {
        if (LOADED) {
            Native.link(tag, begun, traceparent);
        }
    }

    /** Aborts it, and notes why, if it is captured. */
    public static void fail(long tag, long begun, String reason) {
        if (LOADED) {
            Native.fail(tag, begun, reason);
        }
    }

    public static int beginByName(String tag) {
        return LOADED ? Native.beginByName(tag) : nothingByName(tag);
    }

    public static int endByName(String tag) {
        return LOADED ? Native.endByName(tag) : nothingByName(tag);
    }

    public static int abortByName(String tag) {
        return LOADED ? Native.abortByName(tag) : nothingByName(tag);
    }

    public static int pointByName(String tag) {
        return LOADED ? Native.pointByName(tag) : nothingByName(tag);
    }

    public static int observeByName(String tag, double value) {
        return LOADED ? Native.observeByName(tag, value) : nothingByName(tag);
    }

    public static int countByName(String tag, double value) {
        return LOADED ? Native.countByName(tag, value) : nothingByName(tag);
    }

    /** As in C: a call that is switched off looks no further than at a missing tag. */
    private static int nothingByName(String tag) {
        return tag == null || tag.isEmpty() ? ERR_TAGNAME : 0;
    }

    /** Gives the flags before, or a negative error code. */
    public static int state(int flags) {
        return LOADED ? Native.state(flags) : UNLOADED_STATE.getAndSet(flags | STATE_NOAGENT);
    }

    public static boolean flush(double seconds) {
        return LOADED && Native.flush(seconds);
    }

    /** Gives the members of pmtrace_stats_t, in their order. */
    public static long[] stats() {
        return LOADED ? Native.stats() : new long[15];
    }

    /** Gives the text of an error code. */
    public static String errorText(int code) {
        if (!LOADED) {
            return code == 0 ? "No error." : code == ERR_TAGNAME ? TagName.RULE : "Error " + code;
        }
        // Some of it is the C library's, in the character set of the locale.
        return new String(Native.errorBytes(code),
                Charset.forName(System.getProperty("native.encoding")));
    }
}
