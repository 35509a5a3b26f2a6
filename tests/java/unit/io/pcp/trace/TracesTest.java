// SPDX-License-Identifier: LGPL-2.1-or-later
package io.pcp.trace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class TracesTest {
    private static final String TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    private static final String OTHER = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-02";
    private static final String STATE = "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE";

    private final Transaction request = Transaction.of("request");
    private final Transaction step = Transaction.of("step");

    @AfterEach
    void leaveNothingAttached() {
        assertNull(Trace.traceparent());
        assertNull(Trace.tracestate());
    }

    private static <T> T onAnotherThread(Callable<T> work) throws Exception {
        ExecutorService pool = Executors.newSingleThreadExecutor();
        try {
            return pool.submit(work).get();
        } finally {
            pool.shutdown();
        }
    }

    private void assertNoTrace(String traceparent) {
        try (var running = request.beginFrom(traceparent, STATE)) {
            assertNull(running.traceparent(), traceparent);
            assertNull(running.tracestate(), traceparent);
            assertNull(Trace.traceparent(), traceparent);
        }
    }

    @Test
    void passOnWhatCameIn() {
        try (var running = request.beginFrom(TRACE, STATE)) {
            assertEquals(TRACE, running.traceparent());
            assertEquals(STATE, running.tracestate());
            assertEquals(TRACE, Trace.traceparent());
            assertEquals(STATE, Trace.tracestate());
        }
        try (var running = request.beginFrom(" \t" + TRACE + " ")) {
            assertEquals(TRACE, running.traceparent());
            assertNull(running.tracestate());
        }
    }

    @Test
    void areCountedAsAnyOther() throws Exception {
        assertEquals(new Counted(3, 1), Counted.by(() -> {
            var aborted = request.beginFrom(TRACE, STATE);
            request.beginUnder(aborted).close();
            aborted.abort();
            request.beginFrom(null).close();
        }));
    }

    @Test
    void areWhereThereIsNoneUnknown() {
        try (var running = request.begin()) {
            assertNull(running.traceparent());
            assertNull(running.tracestate());
        }
    }

    @Test
    void endWithTheirTransaction() {
        var running = request.beginFrom(TRACE, STATE);
        running.close();
        assertNull(running.traceparent());
        assertNull(running.tracestate());
        running.attach();
        assertNull(Trace.traceparent());
        running.detach();
    }

    @Test
    void haveWhatBeginsOnTheSameThreadInside() {
        try (var outer = request.beginFrom(TRACE, STATE)) {
            try (var inner = step.begin()) {
                assertEquals(TRACE, inner.traceparent());
                assertEquals(STATE, inner.tracestate());
            }
            try (var other = request.beginFrom(OTHER); var inner = step.begin()) {
                assertEquals(OTHER, inner.traceparent());
                assertNull(Trace.tracestate());
            }
            assertEquals(TRACE, Trace.traceparent());
        }
    }

    /** They throw for no header either: strangers may have written it. */
    @Test
    void takeNoHeaderThatIsNotValid() {
        for (String header : Arrays.asList(null, "", " ", "\0", "\ud800", TRACE + "\0", "\0" + TRACE,
                TRACE.toUpperCase(), TRACE.replace('0', '\uff10'), "é" + TRACE, TRACE + "," + OTHER,
                TRACE.substring(1), "ff" + TRACE.substring(2), "0".repeat(100_000), "😀".repeat(8191),
                "cc" + TRACE.substring(2) + "-é", "cc" + TRACE.substring(2) + "-\0",
                "cc" + TRACE.substring(2) + "-" + "0".repeat(20_000))) {
            assertNoTrace(header);
        }
        try (var running = request.beginFrom("cc" + TRACE.substring(2) + "-" + "0".repeat(10_000))) {
            assertEquals(TRACE, running.traceparent());
        }
    }

    @Test
    void doWithoutATracestateThatIsNotValid() {
        for (String header : Arrays.asList(null, "", "a", "A=b", "a=é", "a=\u0161", "a=b\0", "\ud800",
                "a=" + "b".repeat(257), "a=b,".repeat(33), "x".repeat(100_000))) {
            try (var running = request.beginFrom(TRACE, header)) {
                assertEquals(TRACE, running.traceparent(), header);
                assertNull(running.tracestate(), header);
            }
        }
    }

    @Test
    void passOnTheLongestTracestate() {
        String state = ("k=" + "v".repeat(125) + ",").repeat(4).substring(0, 511);
        try (var running = request.beginFrom(TRACE, state)) {
            assertEquals(state, running.tracestate());
        }
    }

    @Test
    void haveInsideWhatIsBegunUnderThem() throws Exception {
        try (var parent = request.beginFrom(TRACE, STATE)) {
            onAnotherThread(() -> {
                assertNull(Trace.traceparent());
                try (var part = step.beginUnder(parent)) {
                    assertEquals(TRACE, part.traceparent());
                    assertEquals(STATE, Trace.tracestate());
                }
                assertNull(Trace.traceparent());
                return null;
            });
        }
    }

    @Test
    void areNotThoseOfWhatHasEnded() {
        var ended = request.beginFrom(TRACE, STATE);
        ended.close();
        for (var parent : Arrays.asList(null, ended, request.begin())) {
            try (var within = request.beginFrom(OTHER); var part = step.beginUnder(parent)) {
                assertNull(part.traceparent());
                assertNull(Trace.traceparent());
            }
        }
    }

    @Test
    void areThoseOfAThreadThatAttaches() throws Exception {
        try (var running = request.beginFrom(TRACE, STATE)) {
            onAnotherThread(() -> {
                try (var attached = running.attach(); var inner = step.begin()) {
                    assertEquals(TRACE, inner.traceparent());
                    assertEquals(STATE, Trace.tracestate());
                }
                assertNull(Trace.traceparent());
                return null;
            });
            assertEquals(TRACE, Trace.traceparent());
        }
    }

    /** As on an event loop that goes on with the next request. */
    @Test
    void areNotThoseOfAThreadThatDetaches() {
        var first = request.beginFrom(TRACE);
        first.detach();
        assertNull(Trace.traceparent());
        var second = request.beginFrom(OTHER);
        second.detach();
        try (var attached = first.attach()) {
            assertEquals(TRACE, Trace.traceparent());
        }
        try (var attached = second.attach()) {
            assertEquals(OTHER, Trace.traceparent());
        }
        first.close();
        second.close();
        try (var running = request.beginFrom(TRACE)) { // the tag is still a parent
            assertEquals(TRACE, Trace.traceparent());
        }
    }

    @Test
    void mayEndOnAnotherThread() throws Exception {
        Transaction handedOver = Transaction.of("handed over");
        for (int i = 0; i < 3; i++) {
            var running = handedOver.beginFrom(TRACE, STATE);
            assertEquals(TRACE, Trace.traceparent());
            running.detach();
            onAnotherThread(() -> {
                assertEquals(TRACE, running.traceparent());
                running.close();
                return null;
            });
        }
    }

    private static String headerOf(int request) {
        return String.format("00-%032x-%016x-01", request + 1, request + 1);
    }

    private void passManyOn(int first, int count) {
        List<Running> open = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            var running = request.beginFrom(headerOf(first + i), "n=" + (first + i));
            running.detach();
            open.add(running);
        }
        for (int i = 0; i < count; i++) {
            assertEquals(headerOf(first + i), open.get(i).traceparent());
            assertEquals("n=" + (first + i), open.get(i).tracestate());
            open.get(i).close();
            assertNull(open.get(i).traceparent());
        }
    }

    @Test
    void areKeptApart() throws Exception {
        int threads = 4;
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        List<Future<?>> done = new ArrayList<>();
        for (int thread = 0; thread < threads; thread++) {
            int first = 10_000 * thread;
            done.add(pool.submit(() -> {
                for (int i = 0; i < 8; i++) {
                    passManyOn(first + 100 * i, 100);
                }
            }));
        }
        for (var each : done) {
            each.get();
        }
        pool.shutdown();
    }
}
