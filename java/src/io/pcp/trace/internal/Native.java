package io.pcp.trace.internal;

import java.nio.charset.Charset;

/**
 * The native library's calls, one for one (native/trace_jni.c). Handles are addresses as {@code
 * long}, so neither side allocates for a call. Public for the other package of this module; not
 * exported.
 */
public final class Native {
    /** -ENOMEM. */
    public static final int OUT_OF_MEMORY = -12;

    static {
        Library.load();
    }

    private Native() {}

    /** Gives a handle, or a negative error code. */
    public static native long tag(String name);

    public static native void point(long tag);

    public static native void observe(long tag, double value);

    public static native void count(long tag, double value);

    /** Gives the moment of the beginning, 0 if tracing is switched off. */
    public static native long begin(long tag);

    public static native void end(long tag, long begun);

    public static native void abort(long tag, long begun);

    public static native int beginByName(String tag);

    public static native int endByName(String tag);

    public static native int abortByName(String tag);

    public static native int pointByName(String tag);

    public static native int observeByName(String tag, double value);

    public static native int countByName(String tag, double value);

    public static native int state(int flags);

    public static native boolean flush(double seconds);

    /** Gives the members of pmtrace_stats_t, in their order. */
    public static native long[] stats();

    private static native byte[] errorBytes(int code);

    /** Gives the text of an error code. */
    public static String errorText(int code) {
        // Some of it is the C library's, in the character set of the locale.
        return new String(errorBytes(code), Charset.forName(System.getProperty("native.encoding")));
    }
}
