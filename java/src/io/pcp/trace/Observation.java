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
     * @param labels names, {@code [a-z][a-z0-9_]*} and not PCP's own, with values; at most
     *     16. See the {@linkplain io.pcp.trace package} for unsuitable values
     * @return the observation of this tag with these labels
     * @throws IllegalArgumentException if the tag or a label is invalid
     */
    public static Observation of(String tag, Map<String, String> labels) {
        return new Observation(tag, labels);
    }

    /**
     * Describes the tag; PCP shows the description as labels. The first description stays.
     *
     * @param unit the unit of its values, such as "bytes"; null: none
     * @param text its meaning; null: none
     * @return this
     */
    public Observation describe(String unit, String text) {
        Calls.describe(handle, unit, text);
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
