// SPDX-License-Identifier: LGPL-2.1-or-later
package sgi.pcp;

import io.pcp.trace.internal.Calls;
import io.pcp.trace.internal.Calls.ByName;

/**
 * The calls by name, as in C. Each but {@link #pmtraceerrstr} and {@link #pmtracestate} returns 0
 * or a negative error code, and none throws. See pmtrace(3) for the errors, and for when the first
 * call waits for the agent. Tags are 1 to 254 bytes of UTF-8, without NUL. Transactions belong to
 * the thread that began them, but another thread may end them. Without a native library, or with
 * PCP_TRACE_NOAGENT, each returns 0, except for a missing tag.
 */
public final class trace {
    /** The default. */
    public static final int PMTRACE_STATE_NONE = 0;

    /** Diagnostics: calls. */
    public static final int PMTRACE_STATE_API = 1;

    /** Diagnostics: connections. */
    public static final int PMTRACE_STATE_COMMS = 2;

    /** Diagnostics: messages. */
    public static final int PMTRACE_STATE_PDU = 4;

    /** Diagnostics: bytes of messages. */
    public static final int PMTRACE_STATE_PDUBUF = 8;

    /** No communication at all. */
    public static final int PMTRACE_STATE_NOAGENT = 16;

    /** After the first call, never report the connection. */
    public static final int PMTRACE_STATE_ASYNC = 32;

    /** Every call returns after the agent has acknowledged it. */
    public static final int PMTRACE_STATE_SYNC = 64;

    /** No tag: null, empty, or with NUL or half a surrogate pair in it. */
    public static final int PMTRACE_ERR_TAGNAME = -12000;

    /** Begin: already open. */
    public static final int PMTRACE_ERR_INPROGRESS = -12001;

    /** End, abort: not open. */
    public static final int PMTRACE_ERR_NOPROGRESS = -12002;

    /** End, abort: this tag never began. */
    public static final int PMTRACE_ERR_NOSUCHTAG = -12003;

    /** Never returned. */
    public static final int PMTRACE_ERR_TAGTYPE = -12004;

    /** The tag has more than 254 bytes of UTF-8. */
    public static final int PMTRACE_ERR_TAGLENGTH = -12005;

    /** The agent breaks the protocol. */
    public static final int PMTRACE_ERR_IPC = -12006;

    /** Never returned: defaults are used. */
    public static final int PMTRACE_ERR_ENVFORMAT = -12007;

    /** The agent did not answer in time. */
    public static final int PMTRACE_ERR_TIMEOUT = -12008;

    /** Never returned. */
    public static final int PMTRACE_ERR_VERSION = -12009;

    /** This host is not let in. */
    public static final int PMTRACE_ERR_PERMISSION = -12010;

    /** The agent has too many connections. */
    public static final int PMTRACE_ERR_CONNLIMIT = -12011;

    private trace() {}

    /**
     * Begins a transaction.
     *
     * @param tag what to call it
     * @return 0, or a negative error code
     */
    public static int pmtracebegin(String tag) {
        return Calls.byName(ByName.BEGIN, tag, 0);
    }

    /**
     * Ends a transaction: it is counted, with its time.
     *
     * @param tag the one that was begun
     * @return 0, or a negative error code
     */
    public static int pmtraceend(String tag) {
        return Calls.byName(ByName.END, tag, 0);
    }

    /**
     * Aborts a transaction: it counts as aborted.
     *
     * @param tag the one that was begun
     * @return 0, or a negative error code
     */
    public static int pmtraceabort(String tag) {
        return Calls.byName(ByName.ABORT, tag, 0);
    }

    /**
     * Counts the passing of a point.
     *
     * @param tag what to call it
     * @return 0, or a negative error code
     */
    public static int pmtracepoint(String tag) {
        return Calls.byName(ByName.POINT, tag, 0);
    }

    /**
     * Records a value that goes up and down.
     *
     * @param tag what to call it
     * @param value the value now
     * @return 0, or a negative error code
     */
    public static int pmtraceobs(String tag, double value) {
        return Calls.byName(ByName.OBSERVE, tag, value);
    }

    /**
     * Records a value that only grows.
     *
     * @param tag what to call it
     * @param value the total so far
     * @return 0, or a negative error code
     */
    public static int pmtracecounter(String tag, double value) {
        return Calls.byName(ByName.COUNT, tag, value);
    }

    /**
     * The same as {@link #pmtracecounter}; the Programmer's Guide's name.
     *
     * @param tag what to call it
     * @param value the total so far
     * @return 0, or a negative error code
     */
    public static int pmtracecount(String tag, double value) {
        return pmtracecounter(tag, value);
    }

    /**
     * Adds to the total of all threads and programs. Not in PCP's library.
     *
     * @param tag what to call it
     * @param increment finite and not negative
     * @return 0, or a negative error code
     */
    public static int pmtraceadd(String tag, double increment) {
        return Calls.byName(ByName.ADD, tag, increment);
    }

    /**
     * Gives the text of an error code.
     *
     * @param code what another call returned
     * @return a text, never null
     */
    public static String pmtraceerrstr(int code) {
        return Calls.errorText(code);
    }

    /**
     * Replaces the state flags.
     *
     * @param flags the sum of {@code PMTRACE_STATE_} constants
     * @return the old ones, or a negative error code
     */
    public static int pmtracestate(int flags) {
        return Calls.state(flags);
    }
}
