// SPDX-License-Identifier: LGPL-2.1-or-later
package io.pcp.trace;

import io.pcp.trace.internal.Calls;
import java.util.Map;

/**
 * A place that the program passes, such as a cache miss: counted.
 * Thread-safe. Make one per tag.
 */
public final class Point extends Tagged {
    private Point(String tag, Map<String, String> labels) {
        super(tag, labels);
    }

    /**
     * Looks the tag up once.
     *
     * @param tag 1 to 254 bytes of UTF-8, without NUL
     * @return the point of this tag
     * @throws IllegalArgumentException if the tag is invalid
     */
    public static Point of(String tag) {
        return new Point(tag, Map.of());
    }

    /**
     * Looks up a tag with labels once. Each set of labels is counted apart.
     *
     * @param tag 1 to 254 bytes of UTF-8, without NUL
     * @param labels names and values; see the {@linkplain io.pcp.trace package}
     * @return the point of this tag with these labels
     * @throws IllegalArgumentException if the tag or a label is invalid
     */
    public static Point of(String tag, Map<String, String> labels) {
        return new Point(tag, labels);
    }

    @Override
    public Point describe(String unit, String text) {
        super.describe(unit, text);
        return this;
    }

    /** Counts one. */
    public void hit() {
        Calls.point(handle);
    }
}
