// SPDX-License-Identifier: LGPL-2.1-or-later
package sgi.pcp;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.pcp.trace.Counted;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The calls by name have the same results as in C. */
class ManualTest {
    @Test
    void aTransactionIsOpenOncePerThread() throws Exception {
        assertEquals(new Counted(1, 0), Counted.by(() -> {
            assertEquals(0, trace.pmtracebegin("once"));
            assertEquals(trace.PMTRACE_ERR_INPROGRESS, trace.pmtracebegin("once"));
            assertEquals(0, trace.pmtraceend("once"));
            assertEquals(trace.PMTRACE_ERR_NOPROGRESS, trace.pmtraceend("once"));
            assertEquals(trace.PMTRACE_ERR_NOPROGRESS, trace.pmtraceabort("once"));
            assertEquals(trace.PMTRACE_ERR_NOSUCHTAG, trace.pmtraceend("never begun"));
        }));
    }

    private static void assertRefused(int error, String tag) {
        assertEquals(error, trace.pmtracebegin(tag));
        assertEquals(error, trace.pmtraceend(tag));
        assertEquals(error, trace.pmtraceabort(tag));
        assertEquals(error, trace.pmtracepoint(tag));
        assertEquals(error, trace.pmtraceobs(tag, 1));
        assertEquals(error, trace.pmtracecounter(tag, 1));
    }

    @Test
    void whatIsNoTagIsRefused() throws Exception {
        assertEquals(new Counted(0, 0), Counted.by(() -> {
            assertRefused(trace.PMTRACE_ERR_TAGNAME, null);
            for (String tag : List.of("", "\0", "a\0", "\ud83d", "\ude00\ud83d")) {
                assertRefused(trace.PMTRACE_ERR_TAGNAME, tag);
            }
            for (String tag : List.of("t".repeat(255), "t".repeat(100_000), "€".repeat(85))) {
                assertRefused(trace.PMTRACE_ERR_TAGLENGTH, tag);
            }
        }));
    }

    @Test
    void errorsHaveTexts() {
        assertEquals("No error.", trace.pmtraceerrstr(0));
        assertEquals("Unknown error code.", trace.pmtraceerrstr(Integer.MIN_VALUE));
        assertEquals("Connection refused", trace.pmtraceerrstr(-111));
        assertEquals("Transaction is already in progress",
                trace.pmtraceerrstr(trace.PMTRACE_ERR_INPROGRESS));
    }

    @Test
    void stateGivesTheOldOne() {
        assertEquals(0, trace.pmtracepoint("connected"));
        assertEquals(trace.PMTRACE_STATE_NONE, trace.pmtracestate(trace.PMTRACE_STATE_SYNC));
        assertEquals(trace.PMTRACE_STATE_SYNC, trace.pmtracestate(trace.PMTRACE_STATE_NONE));
        assertEquals(-22, trace.pmtracestate(trace.PMTRACE_STATE_ASYNC));
        assertEquals(trace.PMTRACE_STATE_NONE, trace.pmtracestate(trace.PMTRACE_STATE_NONE));
    }
}
