// SPDX-License-Identifier: LGPL-2.1-or-later
package io.pcp.trace.internal;

import java.nio.charset.StandardCharsets;

/**
 * The rules for tags, also without a native library: a program must find a wrong tag even where it
 * is not traced.
 */
final class TagName {
    static final String RULE = "a tag must have 1 to 254 bytes of UTF-8, without NUL";

    private TagName() {}

    /** Tells why a text cannot be a C string in UTF-8; null if it can. */
    static String flawOf(String text) {
        if (text.indexOf(0) >= 0) {
            return "contains NUL";
        }
        return StandardCharsets.UTF_8.newEncoder().canEncode(text) ? null
                : "contains half a surrogate pair";
    }

    static boolean isValid(String name) {
        return name != null && !name.isEmpty() && flawOf(name) == null
                && name.getBytes(StandardCharsets.UTF_8).length <= 254;
    }
}
