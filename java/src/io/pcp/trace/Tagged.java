// SPDX-License-Identifier: LGPL-2.1-or-later
package io.pcp.trace;

import io.pcp.trace.internal.Calls;
import io.pcp.trace.internal.Labels;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** A tag, looked up once. */
abstract sealed class Tagged permits Counter, Observation, Point, Transaction {
    final long handle;
    private final String tag;

    Tagged(String tag, Map<String, String> labels) {
        this.handle = find(tag, labels);
        this.tag = textOf(handle, tag, labels);
    }

    /**
     * Gives the tag.
     *
     * @return the tag given to {@code of}, with labels as {@code tag{name=value;name=value}}:
     *     PCP's text, with blanks and signs in values escaped
     */
    public String tag() {
        return tag;
    }

    /**
     * Describes the tag; PCP shows the description as labels. The first description stays.
     *
     * @param unit the unit of its values, such as "bytes"; null: none
     * @param text its meaning; null: none
     * @return this
     */
    Tagged describe(String unit, String text) {
        Calls.describe(handle, unit, text);
        return this;
    }

    @Override
    public String toString() {
        return getClass().getSimpleName() + "[" + tag + "]";
    }

    /** Gives the native library's handle; 0 if the library is not loaded. */
    static long find(String tag, Map<String, String> labels) {
        if (labels.isEmpty()) {
            return check(tag, Calls.tag(tag));
        }
        String problem = Labels.problemOf(labels);
        if (problem != null) {
            throw new IllegalArgumentException(problem);
        }
        return check(tag, Calls.tagWith(tag, labels));
    }

    /** Gives PCP's text of a tag with labels; unescaped if the library is not loaded. */
    private static String textOf(long handle, String tag, Map<String, String> labels) {
        if (labels.isEmpty()) {
            return tag;
        }
        return handle != 0 ? Calls.tagText(handle)
                : new TreeMap<>(labels).entrySet().stream().map(Map.Entry::toString)
                        .collect(Collectors.joining(";", tag + "{", "}"));
    }

    private static long check(String tag, long handle) {
        if (handle >= 0) {
            return handle;
        }
        int error = (int) handle;
        if (error == Calls.OUT_OF_MEMORY) {
            throw new OutOfMemoryError("no memory for a tag");
        }
        throw new IllegalArgumentException(Calls.problemOf(tag, error));
    }
}
