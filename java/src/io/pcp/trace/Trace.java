// SPDX-License-Identifier: LGPL-2.1-or-later
package io.pcp.trace;

import io.pcp.trace.internal.Calls;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;

/** Controls tracing as a whole. */
public final class Trace {
    private Trace() {}

    /** Changes of the native library's behaviour. Default: none of these. */
    public enum State {
        /** Writes each call on standard error. */
        API(1),
        /** Writes what happens to connections on standard error. */
        COMMS(2),
        /** Writes each message to and from the agent on standard error. */
        PDU(4),
        /** Writes each message with its bytes on standard error. */
        PDUBUF(8),
        /** No communication at all: calls do nothing. */
        NOAGENT(16),
        /** Calls by name do not report the connection after the first one. */
        ASYNC(32),
        /** Each call waits until the agent has acknowledged it. */
        SYNC(64);

        private final int flag;

        State(int flag) {
            this.flag = flag;
        }
    }

    /**
     * Replaces the states.
     *
     * @param states the new states
     * @return the old states
     * @throws IllegalStateException for {@link State#ASYNC} after a connection was made
     */
    public static Set<State> setState(State... states) {
        int flags = 0;
        for (State state : states) {
            flags |= state.flag;
        }
        int before = Calls.state(flags);
        if (before < 0) {
            throw new IllegalStateException("too late for ASYNC: an agent is connected already");
        }
        EnumSet<State> all = EnumSet.allOf(State.class);
        all.removeIf(state -> (before & state.flag) == 0);
        return all;
    }

    /**
     * Gives the header for an outgoing request of the innermost transaction that is attached to the
     * calling thread (see the {@linkplain io.pcp.trace package}).
     *
     * @return the header {@code traceparent}; null if there is no trace
     */
    public static String traceparent() {
        return Calls.traceparent(0, 0);
    }

    /**
     * Gives the second header, to send with {@link #traceparent}.
     *
     * @return the header {@code tracestate}; null if there is none
     */
    public static String tracestate() {
        return Calls.tracestate(0, 0);
    }

    /**
     * Waits until the agent has acknowledged all earlier calls. The JVM's exit does this, too.
     *
     * @param timeout the longest time to wait
     * @return true if it has; false also if tracing is switched off
     */
    public static boolean flush(Duration timeout) {
        return Calls.flush(timeout.getSeconds() + timeout.getNano() * 1e-9);
    }

    /**
     * Also writes this process's totals to a file that PCP's own pmdammv shows, as {@code
     * mmv.NAME.transact.count} and so on. Comes before all other calls. The variable {@code
     * PCP_TRACE_MMV} does the same, also where {@code PCP_TRACE_NOAGENT} is set; this does nothing
     * there.
     *
     * @param name a letter, then letters, digits and '_', at most 64
     * @throws IllegalArgumentException for other names
     * @throws IllegalStateException after another call
     */
    public static void mmv(String name) {
        int error = Calls.mmv(name);
        if (error == Calls.INVALID) {
            throw new IllegalArgumentException(String.format(
                    "A name is a letter, then letters, digits and '_', at most 64; not %.80s", name));
        } else if (error < 0) {
            throw new IllegalStateException("mmv: " + Calls.errorText(error));
        }
    }

    /**
     * Reads the native library's own counters.
     *
     * @return their values now
     */
    public static Stats stats() {
        long[] now = Calls.stats();
        return new Stats(
                now[0], now[1], now[2], now[3], now[4], now[5], now[6], now[7], now[8], now[9],
                now[10] != 0, (int) now[11], now[12], now[13], now[14]);
    }
}
