// SPDX-License-Identifier: LGPL-2.1-or-later
package io.pcp.trace.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The binding takes the same names as the native library. */
class NamesTest {
    @Test
    void ofTags() {
        for (String name : Arrays.asList(null, "", "a", "\0", "a\0", "größe 😀", "\ud83d",
                "\ude00\ud83d", "a\ude00", "t".repeat(254), "t".repeat(255), "é".repeat(127), "€".repeat(84) + "ab",
                "€".repeat(85), "😀".repeat(63) + "ab", "😀".repeat(64))) {
            assertEquals(Calls.tag(name) > 0, TagName.isValid(name), name);
        }
    }

    @Test
    void ofLabels() {
        for (String name : List.of("route", "a1_", "z", "tags", "unit", "description", "", "Route",
                "1", "_a", "a b", "a-b", "größe", "hostname", "domainname", "machineid",
                "machineid_sha256", "container", "userid", "groupid", "agent", "trace_type", "tag",
                "pid", "service", "r".repeat(300))) {
            var label = Map.of(name, "value");
            assertEquals(Calls.tagWith("tag", label) > 0, Labels.problemOf(label) == null, name);
        }
    }
}
