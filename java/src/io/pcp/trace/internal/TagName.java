// SPDX-License-Identifier: LGPL-2.1-or-later
package io.pcp.trace.internal;

import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

/**
 * What is a tag, for where there is no native library to say so: a program must not learn about a
 * wrong one only where it is traced.
 */
final class TagName {
    static final String RULE = "a tag has 1 to 254 bytes of UTF-8, without NUL";

    private TagName() {}

    /** Says what only Java's strings can have wrong with them; null if it is not that. */
    static String problemOf(String name) {
        String flaw = name != null ? flawOf(name) : null;
        return flaw != null ? "Invalid tag: it " + flaw : null;
    }

    /** Says why a text cannot be one of C's in UTF-8; null if it can. */
    static String flawOf(String text) {
        if (text.indexOf(0) >= 0) {
            return "has NUL in it";
        }
        return StandardCharsets.UTF_8.newEncoder().canEncode(text) ? null
                : "has half a surrogate pair in it";
    }

    static boolean isValid(String name) {
        if (name == null || name.isEmpty() || name.length() > 254 || name.indexOf(0) >= 0) {
            return false;
        }
        try {
            return StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(name)).remaining()
                    <= 254;
        } catch (CharacterCodingException halfASurrogatePair) {
            return false;
        }
    }
}
