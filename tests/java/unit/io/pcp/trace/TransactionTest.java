// SPDX-License-Identifier: LGPL-2.1-or-later
package io.pcp.trace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

class TransactionTest {
    private final Transaction transaction = Transaction.of("transaction");

    @Test
    void endsOnceHoweverItIsClosed() throws Exception {
        List<Counted.Work> ways = List.of(
                () -> {
                    try (var running = transaction.begin()) {
                        // nothing
                    }
                },
                () -> assertThrows(IllegalStateException.class, () -> {
                    try (var running = transaction.begin()) {
                        throw new IllegalStateException();
                    }
                }),
                () -> {
                    var running = transaction.begin();
                    running.close();
                    running.abort();
                    running.close();
                },
                () -> {
                    var running = transaction.begin();
                    var thread = new Thread(running::close);
                    thread.start();
                    thread.join();
                });
        for (var way : ways) {
            assertEquals(new Counted(1, 0), Counted.by(way));
        }
    }

    @Test
    void callsAndRunsWork() throws Exception {
        assertEquals(new Counted(2, 0), Counted.by(() -> {
            assertEquals(7, transaction.call(() -> 7));
            transaction.run(() -> {});
        }));
    }

    /** It is then over before its work is. */
    @Test
    void isHandedToItsWork() throws Exception {
        assertEquals(new Counted(5, 2), Counted.by(() -> {
            assertEquals("7", transaction.call(running -> {
                running.label("status", 504);
                return "7";
            }));
            transaction.run(running -> running.note("rows", 12));
            transaction.run(Running::abort);
            transaction.run(running -> running.endAs(transaction));
            assertThrows(IllegalStateException.class, () -> transaction.run(running -> {
                throw new IllegalStateException();
            }));
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
    void endsOnceUnderAnotherTag() throws Exception {
        var other = Transaction.of("other");
        assertEquals(new Counted(4, 2), Counted.by(() -> {
            for (var tag : Arrays.asList(other, null)) {
                for (var aborts : List.of(true, false)) {
                    try (var running = transaction.begin()) {
                        running.label("status", 504);
                        if (aborts) {
                            running.abortAs(tag);
                        } else {
                            running.endAs(tag);
                        }
                        running.endAs(other);
                        running.abortAs(other);
                        running.label("status", 200);
                        running.fail("late");
                    }
                }
            }
        }));
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
            open.subList(0, 500).forEach(Running::abort); // does nothing
            open.forEach(Running::close);
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
