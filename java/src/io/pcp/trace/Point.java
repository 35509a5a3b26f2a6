// SPDX-License-Identifier: LGPL-2.1-or-later
package io.pcp.trace;

import io.pcp.trace.internal.Calls;
import java.util.Map;

/**
 * A place that the program passes, such as a cache miss: counted.
 * Thread-safe. Make one per tag.
 */
public final class Point {
    private final long handle;
    private final String tag;

    private Point(long handle, String tag) {
        this.handle = handle;
        this.tag = tag;
    }

    /**
     * Looks the tag up, once and for all.
     *
     * @param tag 1 to 254 bytes of UTF-8, without NUL
     * @return the point of this tag
     * @throws IllegalArgumentException if this is no tag
     */
    public static Point of(String tag) {
        return new Point(Tags.find(tag), tag);
    }

    /**
     * Looks a tag with labels up, once and for all: each set of labels is counted apart.
     *
     * @param tag 1 to 254 bytes of UTF-8, without NUL
     * @param labels from names, {@code [a-z][a-z0-9_]*} and none that PCP gives, to values; at most
     *     16. The {@linkplain io.pcp.trace package} says what does not belong there
     * @return the point of this tag with these labels
     * @throws IllegalArgumentException if this is no tag, or one of these is no label
     */
    public static Point of(String tag, Map<String, String> labels) {
        long handle = Tags.find(tag, labels);
        return new Point(handle, Tags.text(handle, tag, labels));
    }

    /**
     * Says what the tag is about: PCP shows it as labels. Of what two places say, the first counts.
     *
     * @param unit what its values are measured in, such as "bytes"; null if that is not said
     * @param text what it stands for; null if that is not said
     * @return this
     */
    public Point describe(String unit, String text) {
        Calls.describe(handle, unit, text);
        return this;
    }

    /** Counts one. */
    public void hit() {
        Calls.point(handle);
    }

    /**
     * Gives the tag.
     *
     * @return as it was given to {@code of}, with its labels as {@code tag{name=value;name=value}}:
     *     the text by which PCP shows it, in which a value's blanks and signs are escaped
     */
    public String tag() {
        return tag;
    }

    @Override
    public String toString() {
        return "Point[" + tag + "]";
    }
}
