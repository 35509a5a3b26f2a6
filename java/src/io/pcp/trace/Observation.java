// SPDX-License-Identifier: LGPL-2.1-or-later
package io.pcp.trace;

import io.pcp.trace.internal.Calls;
import java.util.Map;

/**
 * A value that goes up and down, such as the length of a queue: counted, with its last value,
 * average, extrema and percentiles. Thread-safe. Make one per tag.
 */
public final class Observation extends Tagged {
    private Observation(String tag, Map<String, String> labels) {
        super(tag, labels);
    }

    /**
     * Looks the tag up once.
     *
     * @param tag 1 to 254 bytes of UTF-8, without NUL
     * @return the observation of this tag
     * @throws IllegalArgumentException if the tag is invalid
     */
    public static Observation of(String tag) {
        return new Observation(tag, Map.of());
    }

    /**
     * Looks up a tag with labels once. Each set of labels is counted apart.
     *
     * @param tag 1 to 254 bytes of UTF-8, without NUL
     * @param labels names and values; see the {@linkplain io.pcp.trace package}
     * @return the observation of this tag with these labels
     * @throws IllegalArgumentException if the tag or a label is invalid
     */
    public static Observation of(String tag, Map<String, String> labels) {
        return new Observation(tag, labels);
    }

    @Override
    public Observation describe(String unit, String text) {
        super.describe(unit, text);
        return this;
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
}
