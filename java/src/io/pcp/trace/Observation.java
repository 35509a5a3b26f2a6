// SPDX-License-Identifier: LGPL-2.1-or-later
package io.pcp.trace;

import io.pcp.trace.internal.Calls;

/**
 * A value that goes up and down, such as the length of a queue: counted, with its last value,
 * average, extrema and percentiles. Thread-safe. Make one per tag.
 */
public final class Observation {
    private final String tag;
    private final long handle;

    private Observation(String tag) {
        this.tag = tag;
        this.handle = Tags.find(tag);
    }

    /**
     * Looks the tag up, once and for all.
     *
     * @param tag 1 to 254 bytes of UTF-8, without NUL
     * @return the observation of this tag
     * @throws IllegalArgumentException if this is no tag
     */
    public static Observation of(String tag) {
        return new Observation(tag);
    }

    /**
     * Records a value.
     *
     * @param value NaN and infinities are counted, and shown as the last value, but are not part of
     *     average, extrema and percentiles
     */
    public void record(double value) {
        Calls.observe(handle, value);
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
        return "Observation[" + tag + "]";
    }
}
