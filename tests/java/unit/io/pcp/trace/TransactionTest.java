// SPDX-License-Identifier: LGPL-2.1-or-later
package io.pcp.trace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.ArrayList;
import java.util.Collections;
import org.junit.jupiter.api.Test;

class TransactionTest {
    private static final Counted ONE = new Counted(1, 0);
    private static final Counted ONE_ABORTED = new Counted(1, 1);

    private final Transaction transaction = Transaction.of("transaction");

    @Test
    void endsWithItsScope() throws Exception {
        assertEquals(ONE, Counted.by(() -> {
            try (var running = transaction.begin()) {
                // nothing
            }
        }));
    }

    @Test
    void endsWhenItsScopeIsLeftByAnException() throws Exception {
        assertEquals(ONE, Counted.by(() -> assertThrows(IllegalStateException.class, () -> {
            try (var running = transaction.begin()) {
                throw new IllegalStateException();
            }
        })));
    }

    @Test
    void callsAndRunsWork() throws Exception {
        assertEquals(new Counted(2, 0), Counted.by(() -> {
            assertEquals(7, transaction.call(() -> 7));
            transaction.run(() -> {});
        }));
    }

    @Test
    void isAbortedByAnExceptionOfItsWork() throws Exception {
        assertEquals(new Counted(2, 2), Counted.by(() -> {
            assertThrows(java.io.IOException.class, () -> transaction.call(() -> {
                throw new java.io.IOException();
            }));
            assertThrows(AssertionError.class, () -> transaction.run(() -> {
                throw new AssertionError();
            }));
        }));
    }

    @Test
    void abortMakesCloseDoNothing() throws Exception {
        assertEquals(ONE_ABORTED, Counted.by(() -> {
            try (var running = transaction.begin()) {
                running.abort();
                running.abort();
            }
        }));
    }

    @Test
    void closeMakesAbortAndCloseDoNothing() throws Exception {
        assertEquals(ONE, Counted.by(() -> {
            var running = transaction.begin();
            running.close();
            running.abort();
            running.close();
        }));
    }

    @Test
    void isNothingIfNeverEnded() throws Exception {
        assertEquals(new Counted(0, 0), Counted.by(transaction::begin));
    }

    @Test
    void anyNumberIsOpenAtOnceAndEndsInAnyOrder() throws Exception {
        assertEquals(new Counted(1000, 500), Counted.by(() -> {
            var open = new ArrayList<Running>();
            for (int i = 0; i < 1000; i++) {
                open.add(transaction.begin());
            }
            Collections.shuffle(open);
            open.subList(0, 500).forEach(Running::abort);
            open.forEach(Running::close);
        }));
    }

    @Test
    void endsOnAnotherThread() throws Exception {
        assertEquals(ONE, Counted.by(() -> {
            var running = transaction.begin();
            var thread = new Thread(running::close);
            thread.start();
            thread.join();
        }));
    }

    @Test
    void runsByAMomentAlone() throws Exception {
        assertEquals(new Counted(2, 1), Counted.by(() -> {
            long first = transaction.start();
            long second = transaction.start();
            assertNotEquals(0, first);
            transaction.end(first);
            transaction.abort(second);
            transaction.end(0);
            transaction.abort(0);
        }));
    }
}
