// SPDX-License-Identifier: LGPL-2.1-or-later
package io.pcp.trace.internal;

/**
 * The native library's calls, one for one (native/trace_jni.c). Handles are addresses as {@code
 * long}, so neither side allocates for a call. Only {@link Calls} uses these, once the library is
 * loaded.
 */
final class Native {
    /**
     * Version of this class and the native code. Raise it here and in CMakeLists.txt when a method
     * changes: a class must never meet a library of another version.
     */
    static final int VERSION = 11;

    private Native() {}

    /** Gives a handle, or a negative error code. */
    static native long tag(String name);

    /** The same for C strings, one after another: the name, then the name and value of each label. */
    static native long tagWith(byte[] texts);

    /** Gives the handle of a tag with more labels; 0: refused, as is a last one without a value. */
    static native long addLabels(long tag, byte[] texts);

    /** In UTF-8. */
    static native byte[] tagText(long tag);

    /** Two C strings: the unit and the description, empty where there is none. */
    static native void describe(long tag, byte[] texts);

    static native void point(long tag);

    static native void observe(long tag, double value);

    static native void count(long tag, double value);

    static native void add(long tag, double increment);

    /** Does call 0 to 3 of these four while the parent is attached; parentBegun 0: none. */
    static native void recordInside(int call, long tag, double value, long parentTag, long parentBegun);

    /** In a begin's positive result on a virtual thread: the transaction must be attached there. */
    static final long ATTACHED = 1L << 62;

    /** Gives the open transaction's number; 0 if tracing is switched off. */
    static native long begin(long tag, boolean isVirtual);

    /** Ends it under the tag `as`; 0: its own, which may lack labels. */
    static native void end(long tag, long begun, long as);

    /** Begins one in the trace of these headers; either may be null or invalid. */
    static native long beginFrom(long tag, String traceparent, String tracestate,
            boolean isVirtual);

    /** Begins one inside of the parent; parentBegun 0: no parent. */
    static native long beginUnder(long tag, long parentTag, long parentBegun, boolean isVirtual);

    /** The same three for what began at this time of System.nanoTime(); 0 or later: now. */
    static native long beginAt(long tag, long start, boolean isVirtual);

    static native long beginFromAt(long tag, long start, String traceparent, String tracestate,
            boolean isVirtual);

    static native long beginUnderAt(long tag, long start, long parentTag, long parentBegun,
            boolean isVirtual);

    /** Attaches it to the calling thread. Not for a virtual one. */
    static native void attach(long tag, long begun);

    static native void detach(long tag, long begun);

    static native boolean isOpen(long tag, long begun);

    /** Tells whether transactions of this tag may be parents. */
    static native boolean nests(long tag);

    /** Makes a tag no parent any more: one ended before an inner one; 0: on another thread. */
    static native void disown(long tag, long innerTag);

    /** Gives the header for an outgoing request; tag 0: the calling thread's. */
    static native String traceparent(long tag, long begun);

    static native String tracestate(long tag, long begun);

    /** Tells whether it is captured. Requires for the next four: it is. */
    static native boolean isCaptured(long tag, long begun);

    static native void note(long tag, long begun, String key, String value);

    static native void noteNumber(long tag, long begun, String key, double value);

    static native void link(long tag, long begun, String traceparent);

    static native void want(long tag, long begun, String why);

    /** Aborts it under the tag `as`, captured or not; the reason may be null. */
    static native void fail(long tag, long begun, long as, String reason);

    /** Does the call of this number in {@link Calls.ByName}. */
    static native int byName(int call, String tag, double value);

    static native int state(int flags);

    static native boolean flush(double seconds);

    static native int mmv(String name);

    /** Gives the members of pmtrace_stats_t in order. */
    static native long[] stats();

    static native byte[] errorBytes(int code);

    /** Sets the default of PCP_TRACE_SERVICE, in UTF-8. Call it before all others. */
    static native void setService(byte[] name);

    /** Notes that Java's main calls. Before all others. */
    static native void noteMainThread();

    /** Makes the library visible to other class loaders, by the code of {@link Loaded}. */
    static native void share(byte[] code);
}
