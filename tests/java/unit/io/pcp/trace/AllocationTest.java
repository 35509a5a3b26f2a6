// SPDX-License-Identifier: LGPL-2.1-or-later
package io.pcp.trace;

import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.Map;
import org.junit.jupiter.api.Test;
import sgi.pcp.trace;

/** A million calls of each kind take nothing from Java's heap. */
class AllocationTest {
    private static final int MILLION = 1_000_000;
    // The JVM itself takes some 50 bytes now and then. The smallest object for each call would be
    // 16 million.
    private static final long NOTHING = 1000;
    private static final long PATIENCE_NS = 60_000_000_000L;
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private static final Transaction TRANSACTION = Transaction.of("transaction");
    private static final Point POINT = Point.of("point");
    private static final Observation OBSERVATION = Observation.of("observation");
    private static final Counter COUNTER = Counter.of("counter");
    private static final Counter LABELLED = Counter.of("added", Map.of("route", "/cart"));

    private interface Call {
        void make(int number);
    }

    private static long allocatedBy(Call call, int count) {
        long before = THREADS.getCurrentThreadAllocatedBytes();
        for (int i = 0; i < count; i++) {
            call.make(i);
        }
        return THREADS.getCurrentThreadAllocatedBytes() - before;
    }

    /** From the first of the million calls on, whether interpreted or compiled. */
    private static void assertNeverAllocates(Call call) {
        allocatedBy(call, 1); // loads classes, and makes the thread and the tag known
        assertNothing(allocatedBy(call, MILLION));
    }

    private static void assertNothing(long bytes) {
        assertTrue(bytes < NOTHING, () -> bytes + " bytes");
    }

    /** For calls whose objects only an optimizing compiler can leave out. */
    private static void assertNeverAllocatesOnceCompiled(Call call) {
        long began = System.nanoTime();
        long allocated;
        do {
            allocated = allocatedBy(call, MILLION);
        } while (allocated >= NOTHING && System.nanoTime() - began < PATIENCE_NS);
        assertNothing(allocated);
    }

    @Test
    void point() {
        assertNeverAllocates(i -> POINT.hit());
    }

    @Test
    void observation() {
        assertNeverAllocates(i -> OBSERVATION.record(i));
    }

    @Test
    void counter() {
        assertNeverAllocates(i -> COUNTER.record(i));
    }

    @Test
    void increment() {
        assertNeverAllocates(i -> LABELLED.add(i));
    }

    @Test
    void transactionByItsMoment() {
        assertNeverAllocates(i -> {
            TRANSACTION.end(TRANSACTION.start());
            TRANSACTION.abort(TRANSACTION.start());
        });
    }

    @Test
    void callsByName() {
        assertNeverAllocates(i -> {
            trace.pmtracebegin("größe");
            trace.pmtraceend("größe");
            trace.pmtracepoint("größe");
            trace.pmtraceobs("größe", i);
        });
    }

    @Test
    void transactionByItsScope() {
        assertNeverAllocatesOnceCompiled(i -> {
            try (var running = TRANSACTION.begin()) {
                POINT.hit();
                if (i % 10 == 0) {
                    running.abort();
                }
            }
        });
    }

    /** Nobody has asked for these notes. */
    @Test
    void transactionWithNotes() {
        assertNeverAllocatesOnceCompiled(i -> {
            try (var running = TRANSACTION.begin()) {
                running.note("größe", "a text");
                running.note("rows", i);
                running.link("no header");
                if (running.isCaptured()) {
                    throw new AssertionError();
                }
                if (i % 10 == 0) {
                    running.fail("a reason");
                }
            }
        });
    }

    /** The failure never happens, so the compiler has no profile of it. */
    @Test
    void transactionThatWouldFail() {
        assertNeverAllocatesOnceCompiled(i -> {
            try (var running = TRANSACTION.begin()) {
                try {
                    OBSERVATION.record(i);
                } catch (RuntimeException e) {
                    running.fail(e.getMessage());
                    throw e;
                }
            }
        });
    }

    /** The abort never happens, so the compiler has no profile of it. */
    @Test
    void transactionThatWouldBeAborted() {
        assertNeverAllocatesOnceCompiled(i -> {
            try (var running = TRANSACTION.begin()) {
                try {
                    OBSERVATION.record(i);
                } catch (RuntimeException e) {
                    running.abort();
                    throw e;
                }
            }
        });
    }
}
