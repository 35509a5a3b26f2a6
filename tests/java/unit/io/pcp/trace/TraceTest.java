// SPDX-License-Identifier: LGPL-2.1-or-later
package io.pcp.trace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pcp.trace.Trace.State;
import java.time.Duration;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class TraceTest {
    private final Point point = Point.of("point");

    @AfterEach
    void restoreState() {
        Trace.setState();
    }

    @Test
    void flushDeliversEverything() {
        point.hit();
        assertTrue(Trace.flush(Duration.ofSeconds(Long.MAX_VALUE)));
        Stats stats = Trace.stats();
        assertTrue(stats.recorded() > 0);
        assertEquals(stats.recorded(), stats.acknowledged());
        assertEquals(0, stats.pending());
        assertTrue(stats.connected());
        assertEquals(2, stats.version());
    }

    @Test
    void statesAreReplaced() {
        assertEquals(Set.of(), Trace.setState(State.SYNC, State.NOAGENT));
        assertEquals(Set.of(State.SYNC, State.NOAGENT),
                Trace.setState(State.PDUBUF, State.NOAGENT, State.NOAGENT));
        assertEquals(Set.of(State.PDUBUF, State.NOAGENT), Trace.setState());
        assertEquals(Set.of(), Trace.setState());
    }

    @Test
    void withoutAgentCallsDoNothing() throws Exception {
        assertEquals(new Counted(0, 0), Counted.by(() -> {
            Trace.setState(State.NOAGENT);
            point.hit();
            var transaction = Transaction.of("transaction");
            assertEquals(0, transaction.start());
            var running = transaction.begin();
            Trace.setState();
            running.close(); // has not begun
        }));
    }

    @Test
    void synchronousCallsReturnAcknowledged() {
        Trace.setState(State.SYNC);
        point.hit();
        assertEquals(0, Trace.stats().pending());
    }

    @Test
    void refusesAsyncOnceConnected() {
        point.hit();
        assertTrue(Trace.flush(Duration.ofSeconds(30)));
        assertThrows(IllegalStateException.class, () -> Trace.setState(State.ASYNC));
    }
}
