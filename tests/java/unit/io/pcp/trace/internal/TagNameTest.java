// SPDX-License-Identifier: LGPL-2.1-or-later
package io.pcp.trace.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Arrays;
import org.junit.jupiter.api.Test;

class TagNameTest {
    @Test
    void aTagIsWhatTheNativeLibraryTakes() {
        for (String name : Arrays.asList(null, "", "a", "\0", "a\0", "größe 😀", "\ud83d",
                "\ude00\ud83d", "a\ude00", "t".repeat(254), "t".repeat(255), "€".repeat(84) + "ab",
                "€".repeat(85), "😀".repeat(63) + "ab", "😀".repeat(64))) {
            assertEquals(Calls.tag(name) > 0, TagName.isValid(name), name);
        }
    }
}
