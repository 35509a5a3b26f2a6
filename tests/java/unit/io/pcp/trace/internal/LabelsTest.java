// SPDX-License-Identifier: LGPL-2.1-or-later
package io.pcp.trace.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class LabelsTest {
    @Test
    void aLabelIsWhatTheNativeLibraryTakes() {
        for (String name : List.of("route", "a1_", "z", "tags", "unit", "description", "", "Route",
                "1", "_a", "a b", "a-b", "größe", "hostname", "domainname", "machineid",
                "machineid_sha256", "container", "userid", "groupid", "agent", "trace_type", "tag",
                "pid", "service", "r".repeat(300))) {
            var label = Map.of(name, "value");
            assertEquals(Calls.tagWith("tag", label) > 0, Labels.problemOf(label) == null, name);
        }
    }
}
