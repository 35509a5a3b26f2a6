// SPDX-License-Identifier: LGPL-2.1-or-later
package io.pcp.trace.internal;

/**
 * The native library's calls, one for one (native/trace_jni.c). Handles are addresses as {@code
 * long}, so neither side allocates for a call. Only {@link Calls} makes them, when the library is
 * loaded.
 */
final class Native {
    /**
     * Of this class and the library's side of it. Whoever changes a method raises it, here and in
     * CMakeLists.txt, so that a class never meets a library of another version.
     */
    static final int VERSION = 6;

    private Native() {}

    /** Gives a handle, or a negative error code. */
    static native long tag(String name);

    /** The same for C strings, one after another: the name, then the name and value of each label. */
    static native long tagWith(byte[] texts);

    /** In UTF-8. */
    static native byte[] tagText(long tag);

    /** Two C strings: the unit and the description, empty where there is none. */
    static native void describe(long tag, byte[] texts);

    static native void point(long tag);

    static native void observe(long tag, double value);

    static native void count(long tag, double value);

    static native void add(long tag, double increment);

    /** Gives a number that stands for the open transaction, 0 if tracing is switched off. */
    static native long begin(long tag);

    static native void end(long tag, long begun);

    static native void abort(long tag, long begun);

    /** Begins one of the trace of these headers, either of which may be null or anything. */
    static native long beginFrom(long tag, String traceparent, String tracestate);

    /** Begins one inside of another; of none if that one's number is 0. */
    static native long beginUnder(long tag, long parentTag, long parentBegun);

    /** Attaches it to the calling thread, unless that is a virtual one. */
    static native void attach(long tag, long begun);

    static native void detach(long tag, long begun);

    /** Gives the header for what goes out from within it, or, without a tag, from the calling thread. */
    static native String traceparent(long tag, long begun);

    static native String tracestate(long tag, long begun);

    /** Says whether somebody has asked to see it by itself; the next four note nothing otherwise. */
    static native boolean isCaptured(long tag, long begun);

    static native void note(long tag, long begun, String key, String value);

    static native void noteNumber(long tag, long begun, String key, double value);

    static native void link(long tag, long begun, String traceparent);

    /** Aborts it, captured or not. */
    static native void fail(long tag, long begun, String reason);

    static native int beginByName(String tag);

    static native int endByName(String tag);

    static native int abortByName(String tag);

    static native int pointByName(String tag);

    static native int observeByName(String tag, double value);

    static native int countByName(String tag, double value);

    static native int state(int flags);

    static native boolean flush(double seconds);

    /** Gives the members of pmtrace_stats_t, in their order. */
    static native long[] stats();

    static native byte[] errorBytes(int code);

    /** Says, before the first call, what the process serves if PCP_TRACE_SERVICE does not: in UTF-8. */
    static native void setService(byte[] name);

    /** Says, before the first call, what {@code Thread} is, and whether it is Java's main that calls. */
    static native void noteThreads(Class<Thread> type, boolean isMain);

    /** Lets other class loaders find the library, by the code of the class {@link Loaded}. */
    static native void share(byte[] code);
}
