// SPDX-License-Identifier: LGPL-2.1-or-later
package io.pcp.trace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.List;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

class TagsTest {
    private static final List<Function<String, Object>> FACTORIES =
            List.of(Transaction::of, Point::of, Observation::of, Counter::of);

    private static String refuse(Function<String, Object> factory, String tag) {
        return assertThrows(IllegalArgumentException.class, () -> factory.apply(tag)).getMessage();
    }

    @Test
    void refusesWhatCannotBeWrittenAsUtf8WithoutNul() {
        for (var factory : FACTORIES) {
            refuse(factory, null);
            assertEquals("Invalid tag: it is NULL or empty", refuse(factory, ""));
            for (String tag : List.of("\0", "a\0b")) {
                assertEquals("Invalid tag: it has NUL in it", refuse(factory, tag));
            }
            for (String tag : List.of("\ud83d", "a\ud83d", "\ude00b", "\ude00\ud83d")) {
                assertEquals("Invalid tag: it has half a surrogate pair in it", refuse(factory, tag));
            }
        }
    }

    @Test
    void refusesMoreThan254Bytes() {
        for (var factory : FACTORIES) {
            for (String tag : List.of("t".repeat(255), "t".repeat(100_000), "é".repeat(127) + "t",
                    "€".repeat(84) + "é" + "t", "😀".repeat(63) + "€", "t".repeat(253) + "é")) {
                assertEquals("Tag is too long (at most 254 bytes)", refuse(factory, tag));
            }
        }
    }

    @Test
    void takes254Bytes() {
        for (var factory : FACTORIES) {
            for (String tag : List.of("t".repeat(254), "é".repeat(127), "€".repeat(84) + "é",
                    "😀".repeat(63) + "é")) {
                factory.apply(tag);
            }
        }
    }

    @Test
    void aTagIsLookedUpToTheSameHandle() {
        assertEquals(Tags.find("größe 😀"), Tags.find("größe 😀"));
    }

    @Test
    void objectsSayWhatTheyAre() {
        assertEquals("größe", Point.of("größe").tag());
        assertEquals("Point[größe]", Point.of("größe").toString());
        assertEquals("Transaction[a b]", Transaction.of("a b").toString());
        assertEquals("Observation[a]", Observation.of("a").toString());
        assertEquals("Counter[a]", Counter.of("a").toString());
    }
}
