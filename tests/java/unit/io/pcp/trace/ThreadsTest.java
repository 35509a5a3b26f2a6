// SPDX-License-Identifier: LGPL-2.1-or-later
package io.pcp.trace;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ThreadsTest {
    private static void runInThreads(int count, Runnable work) throws InterruptedException {
        var ready = new CountDownLatch(count);
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            threads.add(new Thread(() -> {
                ready.countDown();
                try {
                    ready.await();
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
                work.run();
            }));
        }
        threads.forEach(Thread::start);
        for (var thread : threads) {
            thread.join();
        }
    }

    @Test
    void shareTheirObjects() throws Exception {
        var point = Point.of("shared");
        var transaction = Transaction.of("shared");
        int calls = 20_000;
        assertEquals(new Counted(8 * 3 * calls, 8 * calls), Counted.by(() -> runInThreads(8, () -> {
            for (int i = 0; i < calls; i++) {
                point.hit();
                try (var done = transaction.begin(); var aborted = transaction.begin()) {
                    aborted.abort();
                }
            }
        })));
    }

    @Test
    void findOneHandleForATagThatAllLookUpAtOnce() throws Exception {
        var handles = new long[16];
        var next = new AtomicInteger();
        runInThreads(16, () -> handles[next.getAndIncrement()] =
                Tagged.find("looked up by all", Map.of()));
        assertEquals(1, IntStream.range(0, 16).mapToLong(i -> handles[i]).distinct().count());
    }

    @Test
    void leaveTheirCallsBehind() throws Exception {
        var point = Point.of("short-lived");
        assertEquals(new Counted(300, 0), Counted.by(() -> {
            for (int i = 0; i < 3; i++) {
                runInThreads(100, point::hit);
            }
        }));
    }
}
