// SPDX-License-Identifier: LGPL-2.1-or-later
package io.pcp.trace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

class TagsTest {
    private static final List<Function<String, Object>> FACTORIES =
            List.of(Transaction::of, Point::of, Observation::of, Counter::of);
    private static final List<BiFunction<String, Map<String, String>, Object>> LABELLED_FACTORIES =
            List.of(Transaction::of, Point::of, Observation::of, Counter::of);

    private static String refuse(Function<String, Object> factory, String tag) {
        return assertThrows(IllegalArgumentException.class, () -> factory.apply(tag)).getMessage();
    }

    @Test
    void refusesWhatIsNoTag() {
        Map<String, List<String>> refused = Map.of(
                "Invalid tag: it is NULL or empty", List.of(""),
                "Invalid tag: it contains NUL", List.of("\0", "a\0b"),
                "Invalid tag: it contains half a surrogate pair",
                List.of("\ud83d", "a\ud83d", "\ude00b", "\ude00\ud83d"),
                "Tag is too long (at most 254 bytes)",
                List.of("t".repeat(255), "t".repeat(100_000), "é".repeat(127) + "t",
                        "€".repeat(84) + "é" + "t", "😀".repeat(63) + "€", "t".repeat(253) + "é"));
        for (var factory : FACTORIES) {
            refuse(factory, null);
            refused.forEach((why, tags) -> {
                for (String tag : tags) {
                    assertEquals(why, refuse(factory, tag));
                }
            });
        }
    }

    @Test
    void labelsAreTextInAnyOrder() {
        var labels = new LinkedHashMap<String, String>();
        labels.put("zone", "größe €");
        labels.put("a", "");
        labels.put("route", "/a b");
        long found = Tagged.find("request", labels);
        assertEquals(Tagged.find("request{a=;route=/a%20b;zone=größe%20%E2%82%AC}", Map.of()), found);
        assertEquals(Tagged.find("request", new TreeMap<>(labels)), found);
        assertNotEquals(Tagged.find("request", Map.of()), found);
    }

    @Test
    void labelsThatAreTooLongAreLeftOut() {
        long before = Trace.stats().labelsCut();
        long bare = Tagged.find("request", Map.of());
        assertEquals(bare, Tagged.find("request", Map.of("route", "/".repeat(100_000))));
        assertEquals(bare, Tagged.find("request", Map.of("r".repeat(300), "/")));
        assertEquals(2, Trace.stats().labelsCut() - before);
    }

    @Test
    void refusesWhatIsNoLabel() {
        Map<String, Map<String, String>> refused = new TreeMap<>(Map.of(
                "\"hostname\": the name is reserved by PCP", Map.of("hostname", "a"),
                "\"route\": its value contains NUL", Map.of("route", "\0"),
                "\"route\": its value is null", Collections.singletonMap("route", null)));
        for (var name : List.of("Route", "größe", "", "1st", "_a", "a-b")) {
            refused.put("\"" + name + "\": its name is not [a-z][a-z0-9_]*", Map.of(name, ""));
        }
        for (var factory : LABELLED_FACTORIES) {
            refuse(tag -> factory.apply(tag, Map.of("route", "/")), null);
            assertEquals("Invalid tag: it is NULL or empty",
                    refuse(tag -> factory.apply(tag, Map.of("route", "/")), ""));
            refused.forEach((why, labels) -> assertEquals("Invalid label " + why,
                    refuse(tag -> factory.apply(tag, labels), "a")));
        }
    }

    @Test
    void takes16LabelsAndNoMore() {
        var labels = new TreeMap<String, String>();
        for (char label = 'a'; label <= 'p'; label++) {
            labels.put(String.valueOf(label), "");
        }
        assertNotEquals(Tagged.find("request", Map.of()), Tagged.find("request", labels));
        labels.put("q", "");
        assertEquals("A tag must have at most 16 labels", refuse(tag -> Point.of(tag, labels), "a"));
    }

    @Test
    void descriptionsNeverThrow() {
        var counter = Counter.of("described");
        assertSame(counter, counter.describe("bytes", null).describe(null, "what was sent")
                .describe("\0", "\ud83d".repeat(100_000)));
        Transaction.of("described").describe(null, null);
        Point.of("described").describe("", "");
        Observation.of("described").describe("größe", "😀");
    }

    @Test
    void objectsSayWhatTheyAre() {
        assertEquals("größe", Point.of("größe").tag());
        assertEquals("Point[größe]", Point.of("größe").toString());
        assertEquals("Transaction[a b]", Transaction.of("a b").toString());
        assertEquals("Observation[a]", Observation.of("a").toString());
        assertEquals("Counter[a]", Counter.of("a").toString());
        var labels = Map.of("c", "d", "b", "x;c=d, ü");
        assertEquals("Counter[a{b=x%3Bc%3Dd%2C%20ü;c=d}]", Counter.of("a", labels).toString());
        for (var factory : LABELLED_FACTORIES) {
            assertTrue(factory.apply("a", labels).toString().contains("{b=x%3Bc%3Dd%2C%20ü;c=d}"));
        }
        assertEquals("a", Counter.of("a", Map.of("b", "/".repeat(300))).tag()); // the name that is counted
        assertEquals("a", Counter.of("a", Map.of()).tag());
    }
}
