// SPDX-License-Identifier: LGPL-2.1-or-later
package io.pcp.trace;

import io.pcp.trace.internal.Calls;
import java.util.Map;

/**
 * A value that only grows, such as the bytes sent: either increments that are added up, or the
 * value so far. Use a tag for one of the two only. Thread-safe. Make one per tag.
 */
public final class Counter extends Tagged {
    private Counter(String tag, Map<String, String> labels) {
        super(tag, labels);
    }

    /**
     * Looks the tag up once.
     *
     * @param tag 1 to 254 bytes of UTF-8, without NUL
     * @return the counter of this tag
     * @throws IllegalArgumentException if the tag is invalid
     */
    public static Counter of(String tag) {
        return new Counter(tag, Map.of());
    }

    /**
     * Looks up a tag with labels once. Each set of labels is counted apart.
     *
     * @param tag 1 to 254 bytes of UTF-8, without NUL
     * @param labels names and values; see the {@linkplain io.pcp.trace package}
     * @return the counter of this tag with these labels
     * @throws IllegalArgumentException if the tag or a label is invalid
     */
    public static Counter of(String tag, Map<String, String> labels) {
        return new Counter(tag, labels);
    }

    @Override
    public Counter describe(String unit, String text) {
        super.describe(unit, text);
        return this;
    }

    /**
     * Adds to the total of all threads and programs for this tag.
     *
     * @param increment the increment; ignored if negative or not finite
     */
    public void add(double increment) {
        Calls.add(handle, increment);
    }

    /**
     * Records the value so far.
     *
     * @param value the total; use {@link #add} for increments
     */
    public void record(double value) {
        Calls.count(handle, value);
    }
}
