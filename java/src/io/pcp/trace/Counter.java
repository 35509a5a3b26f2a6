// SPDX-License-Identifier: LGPL-2.1-or-later
package io.pcp.trace;

import io.pcp.trace.internal.Calls;

/**
 * A value that only grows, such as the bytes sent so far: counted, with its last value.
 * Thread-safe. Make one per tag.
 */
public final class Counter {
    private final String tag;
    private final long handle;

    private Counter(String tag) {
        this.tag = tag;
        this.handle = Tags.find(tag);
    }

    /**
     * Looks the tag up, once and for all.
     *
     * @param tag 1 to 254 bytes of UTF-8, without NUL
     * @return the counter of this tag
     * @throws IllegalArgumentException if this is no tag
     */
    public static Counter of(String tag) {
        return new Counter(tag);
    }

    /**
     * Records how far the value has grown.
     *
     * @param value the whole of it, not what was added
     */
    public void record(double value) {
        Calls.count(handle, value);
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
        return "Counter[" + tag + "]";
    }
}
