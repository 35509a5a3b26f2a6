// SPDX-License-Identifier: LGPL-2.1-or-later
package io.pcp.trace;

import io.pcp.trace.internal.Calls;

/**
 * A place that the program passes, such as a cache miss: counted.
 * Thread-safe. Make one per tag.
 */
public final class Point {
    private final String tag;
    private final long handle;

    private Point(String tag) {
        this.tag = tag;
        this.handle = Tags.find(tag);
    }

    /**
     * Looks the tag up, once and for all.
     *
     * @param tag 1 to 254 bytes of UTF-8, without NUL
     * @return the point of this tag
     * @throws IllegalArgumentException if this is no tag
     */
    public static Point of(String tag) {
        return new Point(tag);
    }

    /** Counts one. */
    public void hit() {
        Calls.point(handle);
    }

    /**
     * Gives the tag.
     *
     * @return as it was given to {@link #of}
     */
    public String tag() {
        return tag;
    }

    @Override
    public String toString() {
        return "Point[" + tag + "]";
    }
}
