// SPDX-License-Identifier: LGPL-2.1-or-later
package io.pcp.trace;

import io.pcp.trace.internal.Calls;
import java.util.Map;

/**
 * What only grows, such as the bytes sent: what is added, summed up, or the value that it has by
 * now. A tag is for one of the two. Thread-safe. Make one per tag.
 */
public final class Counter {
    private final long handle;
    private final String tag;

    private Counter(long handle, String tag) {
        this.handle = handle;
        this.tag = tag;
    }

    /**
     * Looks the tag up, once and for all.
     *
     * @param tag 1 to 254 bytes of UTF-8, without NUL
     * @return the counter of this tag
     * @throws IllegalArgumentException if this is no tag
     */
    public static Counter of(String tag) {
        return new Counter(Tags.find(tag), tag);
    }

    /**
     * Looks a tag with labels up, once and for all: each set of labels is counted apart.
     *
     * @param tag 1 to 254 bytes of UTF-8, without NUL
     * @param labels from names, {@code [a-z][a-z0-9_]*} and none that PCP gives, to values; at most
     *     16. The {@linkplain io.pcp.trace package} says what does not belong there
     * @return the counter of this tag with these labels
     * @throws IllegalArgumentException if this is no tag, or one of these is no label
     */
    public static Counter of(String tag, Map<String, String> labels) {
        long handle = Tags.find(tag, labels);
        return new Counter(handle, Tags.text(handle, tag, labels));
    }

    /**
     * Says what the tag is about: PCP shows it as labels. Of what two places say, the first counts.
     *
     * @param unit what its values are measured in, such as "bytes"; null if that is not said
     * @param text what it stands for; null if that is not said
     * @return this
     */
    public Counter describe(String unit, String text) {
        Calls.describe(handle, unit, text);
        return this;
    }

    /**
     * Adds to what all threads and programs have added to this tag.
     *
     * @param increment what came to it; what is negative or not finite is left out
     */
    public void add(double increment) {
        Calls.add(handle, increment);
    }

    /**
     * Records how far the value has grown.
     *
     * @param value the whole of it; {@link #add} is for what came to it
     */
    public void record(double value) {
        Calls.count(handle, value);
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
        return "Counter[" + tag + "]";
    }
}
