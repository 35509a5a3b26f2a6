// SPDX-License-Identifier: LGPL-2.1-or-later
package io.pcp.trace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
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
    void endWithTheirTransaction() {
        var running = request.beginFrom(TRACE, STATE);
        running.close();
        assertNull(running.traceparent());
        assertNull(running.tracestate());
        try (var around = request.beginFrom(OTHER); var nothing = running.attach()) {
            assertEquals(OTHER, Trace.traceparent());
        }
    }

    /** They throw for no header either: strangers may have written it. */
    @Test
    void takeNoHeaderThatIsNotValid() {
        for (String header : Arrays.asList(null, "", "\0", "\ud800", TRACE + "\0", "\0" + TRACE,
                TRACE.replace('0', '\uff10'), "é" + TRACE, "0".repeat(100_000), "😀".repeat(8191),
                "cc" + TRACE.substring(2) + "-é", "cc" + TRACE.substring(2) + "-\0",
                "cc" + TRACE.substring(2) + "-" + "0".repeat(20_000))) {
            try (var running = request.beginFrom(header, STATE)) {
                assertNull(running.traceparent(), header);
                assertNull(running.tracestate(), header);
                assertNull(Trace.traceparent(), header);
            }
        }
        try (var running = request.beginFrom("cc" + TRACE.substring(2) + "-" + "0".repeat(10_000))) {
            assertEquals(TRACE, running.traceparent());
        }
    }

    @Test
    void doWithoutATracestateThatIsNotValid() {
        for (String header : Arrays.asList(null, "", "A=b", "a=é", "a=\u0161", "a=b\0", "\ud800",
                "x".repeat(100_000))) {
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
        var running = request.beginFrom(TRACE, STATE);
        assertEquals(TRACE, Trace.traceparent());
        running.detach();
        onAnotherThread(() -> {
            assertEquals(TRACE, running.traceparent());
            running.close();
            return null;
        });
        assertNull(running.traceparent());
    }

    @Test
    void hideTheOneAround() {
        try (var running = request.beginFrom(TRACE)) {
            try (var other = step.beginFrom(null); var inner = step.begin()) {
                assertNull(inner.traceparent());
                assertNull(Trace.traceparent());
            }
            step.run(part -> assertEquals(TRACE, part.traceparent()));
            assertThrows(IllegalStateException.class, () -> step.call(part -> {
                throw new IllegalStateException();
            }));
            assertEquals(TRACE, Trace.traceparent());
        }
    }

    /** A tag that does so is no parent any more, so the later ones have no trace. */
    @Test
    void mayEndAgainstTheRules() throws Exception {
        for (var tag : List.of(Transaction.of("elsewhere"), Transaction.of("too early"))) {
            var first = tag.beginFrom(TRACE);
            if (tag.tag().equals("elsewhere")) {
                onAnotherThread(() -> {
                    first.close();
                    return null;
                });
            } else {
                try (var later = step.beginFrom(OTHER)) {
                    first.close();
                    assertEquals(OTHER, Trace.traceparent());
                }
            }
            assertNull(Trace.traceparent());
            try (var again = tag.beginFrom(TRACE); var inner = step.begin()) {
                assertEquals(TRACE, again.traceparent());
                assertNull(inner.traceparent());
            }
            try (var again = tag.beginFrom(TRACE)) {
                again.detach();
                try (var attached = again.attach()) {
                    assertEquals(TRACE, Trace.traceparent());
                }
            }
        }
    }

    /** The 48 innermost ones are known. */
    @Test
    void mayNeverEnd() {
        var running = new ArrayList<>(List.of(request.beginFrom(OTHER)));
        for (int i = 0; i < 48; i++) {
            running.add(step.beginFrom(TRACE));
        }
        while (running.size() > 1) {
            assertEquals(TRACE, Trace.traceparent());
            running.remove(running.size() - 1).close();
        }
        assertNull(Trace.traceparent());
        running.get(0).close();
    }
}
