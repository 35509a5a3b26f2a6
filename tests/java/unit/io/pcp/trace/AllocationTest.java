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

    private static void assertNothing(String what, long bytes) {
        assertTrue(bytes < NOTHING, () -> what + ": " + bytes + " bytes");
    }

    /** From the first of the million calls on, whether interpreted or compiled. */
    @Test
    void callsWithoutObjectsNeverAllocate() {
        Map<String, Call> calls = Map.of(
                "point", i -> POINT.hit(),
                "observation", i -> OBSERVATION.record(i),
                "counter", i -> COUNTER.record(i),
                "increment", i -> LABELLED.add(i),
                "transaction by its moment", i -> {
                    TRANSACTION.end(TRANSACTION.start());
                    TRANSACTION.abort(TRANSACTION.start());
                },
                "calls by name", i -> {
                    trace.pmtracebegin("größe");
                    trace.pmtraceend("größe");
                    trace.pmtracepoint("größe");
                    trace.pmtraceobs("größe", i);
                });
        calls.forEach((what, call) -> {
            allocatedBy(call, 1); // loads classes, and makes the thread and the tag known
            assertNothing(what, allocatedBy(call, MILLION));
        });
    }

    /** An optimizing compiler leaves out the objects of transactions in a scope. */
    @Test
    void scopesNeverAllocateOnceCompiled() {
        Map<String, Call> calls = Map.of(
                "scope", i -> {
                    try (var running = TRANSACTION.begin()) {
                        POINT.hit();
                        if (i % 10 == 0) {
                            running.abort();
                        }
                    }
                },
                "notes that nobody has asked for", i -> {
                    try (var running = TRANSACTION.begin()) {
                        running.note("größe", "a text");
                        running.note("rows", i);
                        running.link("no header");
                        running.want("why");
                        if (running.isCaptured()) {
                            throw new AssertionError();
                        }
                        if (i % 10 == 0) {
                            running.fail("a reason");
                        }
                    }
                },
                "failure that never happens, so that the compiler has no profile of it", i -> {
                    try (var running = TRANSACTION.begin()) {
                        try {
                            OBSERVATION.record(i);
                        } catch (RuntimeException e) {
                            running.fail(e.getMessage());
                            throw e;
                        }
                    }
                },
                "abort that never happens", i -> {
                    try (var running = TRANSACTION.begin()) {
                        try {
                            OBSERVATION.record(i);
                        } catch (RuntimeException e) {
                            running.abort();
                            throw e;
                        }
                    }
                });
        calls.forEach((what, call) -> {
            long began = System.nanoTime();
            long allocated;
            do {
                allocated = allocatedBy(call, MILLION);
            } while (allocated >= NOTHING && System.nanoTime() - began < PATIENCE_NS);
            assertNothing(what, allocated);
        });
    }
}
