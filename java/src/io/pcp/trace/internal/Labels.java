// SPDX-License-Identifier: LGPL-2.1-or-later
package io.pcp.trace.internal;

import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

/** The rules for labels, with texts, also without a native library. */
public final class Labels {
    private static final int MOST = 16;
    private static final Pattern NAME = Pattern.compile("[a-z][a-z0-9_]*");

    /** PCP's and the agent's labels: is_dimension_key in libtrace/wire/dimensions.cpp. */
    private static final Set<String> RESERVED = Set.of(
            "hostname", "domainname", "machineid", "machineid_sha256", "container", "userid",
            "groupid", "agent", "trace_type", "tag");

    private Labels() {}

    /** Says what is wrong with a tag's labels; null if nothing is. */
    public static String problemOf(Map<String, String> labels) {
        if (labels.size() > MOST) {
            return "A tag must have at most " + MOST + " labels";
        }
        for (var label : labels.entrySet()) {
            String flaw = flawOf(label.getKey(), label.getValue());
            if (flaw != null) {
                return "Invalid label \"" + label.getKey() + "\": " + flaw;
            }
        }
        return null;
    }

    private static String flawOf(String name, String value) {
        if (name == null || !NAME.matcher(name).matches()) {
            return "its name is not [a-z][a-z0-9_]*";
        }
        if (RESERVED.contains(name)) {
            return "the name is reserved by PCP";
        }
        String flaw = value == null ? "is null" : TagName.flawOf(value);
        return flaw != null ? "its value " + flaw : null;
    }
}
