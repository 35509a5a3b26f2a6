// SPDX-License-Identifier: LGPL-2.1-or-later
package io.pcp.trace.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.util.Map;
import org.junit.jupiter.api.Test;

class LateLabelsTest {
    private static final long REQUEST = Calls.tagWith("late", Map.of("route", "/"));

    private static String[] with(String... texts) {
        String[] labels = null;
        for (int i = 0; i < texts.length; i += 2) {
            labels = LateLabels.with(labels, REQUEST, texts[i], texts[i + 1]);
        }
        return labels;
    }

    private static String tagWith(String... texts) {
        return Calls.tagText(LateLabels.addedTo(REQUEST, with(texts)));
    }

    @Test
    void theLastValueOfALabelWins() {
        assertEquals("late{route=/;status=504}", tagWith("status", "200", "status", "504"));
        assertEquals("late{a=größe;route=/cart;z=}",
                tagWith("z", "", "route", "/cart", "a", "größe"));
        String[] labels = with("step", "0");
        for (int step = 1; step <= 1000; step++) {
            labels = LateLabels.with(labels, REQUEST, "step", "9");
        }
        assertEquals(2, labels.length);
    }

    @Test
    void whatCannotBeATextIsLeftOut() {
        assertNull(with(null, "a", "status", null, "a\0", "a", "status", "\0"));
        assertEquals("late{route=/;status=%3F}", tagWith("status", "\ud83d", null, "a"));
    }

    @Test
    void anInvalidOrOneTooManyTakesAllAway() {
        assertEquals(0, LateLabels.addedTo(REQUEST, with("status", "200", "Status", "")));
        String[] labels = null;
        for (int i = 0; i < 1000; i++) {
            labels = LateLabels.with(labels, REQUEST, "l" + i, "");
        }
        assertEquals(0, LateLabels.addedTo(REQUEST, labels));
        assertEquals(2 * 17, labels.length);
    }

    /** The native library counts each look-up of labels that are too long. */
    @Test
    void isLookedUpOnce() {
        long before = Calls.stats()[12];
        for (int i = 0; i < 3; i++) {
            assertEquals("late", tagWith("status", "/".repeat(100_000)));
        }
        assertEquals(1, Calls.stats()[12] - before);
        long other = Calls.tag("other late");
        assertEquals("other late", Calls.tagText(
                LateLabels.addedTo(other, with("status", "/".repeat(255)))));
    }
}
