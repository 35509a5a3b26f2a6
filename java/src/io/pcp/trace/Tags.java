// SPDX-License-Identifier: LGPL-2.1-or-later
package io.pcp.trace;

import io.pcp.trace.internal.Calls;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** Maps a tag to the native library's handle. */
final class Tags {
    private Tags() {}

    static long find(String tag) {
        return check(tag, Calls.tag(tag));
    }

    static long find(String tag, Map<String, String> labels) {
        String problem = Calls.problemOf(labels);
        if (problem != null) {
            throw new IllegalArgumentException(problem);
        }
        return check(tag, Calls.tagWith(tag, labels));
    }

    /** Gives PCP's text of a tag with labels; unescaped if the library is not loaded. */
    static String text(long handle, String tag, Map<String, String> labels) {
        if (labels.isEmpty()) {
            return tag;
        }
        return handle != 0 ? Calls.tagText(handle)
                : new TreeMap<>(labels).entrySet().stream().map(Map.Entry::toString)
                        .collect(Collectors.joining(";", tag + "{", "}"));
    }

    private static long check(String tag, long handle) {
        if (handle >= 0) { // 0: the library is not loaded
            return handle;
        }
        int error = (int) handle;
        if (error == Calls.OUT_OF_MEMORY) {
            throw new OutOfMemoryError("no memory for a tag");
        }
        throw new IllegalArgumentException(Calls.problemOf(tag, error));
    }
}
