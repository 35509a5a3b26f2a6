// SPDX-License-Identifier: LGPL-2.1-or-later
package io.pcp.trace.internal;

import java.util.Arrays;

/**
 * Labels for a transaction's end, names and values by turns in an array that never changes. Looked
 * up only there, since each label set that is looked up takes room.
 */
public final class LateLabels {
    private static final int MOST_TEXTS = 2 * 17; // one label more than a tag may have
    private static final int LONGEST = 255; // one byte more, or several

    /** A tag with labels whose handle is known. */
    private record Known(long tag, String[] labels, long handle) {}

    /**
     * Each at its hash's place. Threads need no order: a record's members are final, so whoever
     * sees one sees all of it.
     */
    private static final Known[] KNOWN = new Known[1024];

    private LateLabels() {}

    /** Gives the labels with one more; null: none. Reports what cannot be a C string. */
    public static String[] with(String[] labels, long tag, String name, String value) {
        if (!isText(name) || !isText(value)) {
            Calls.addLabels(tag, isText(name) ? name : "");
            return labels;
        }
        int count = labels == null ? 0 : labels.length;
        int at = 0;
        while (at < count && !labels[at].equals(name)) {
            at += 2;
        }
        if (at == MOST_TEXTS) {
            return labels;
        }
        String[] more = at < count ? labels.clone()
                : count == 0 ? new String[2] : Arrays.copyOf(labels, count + 2);
        more[at] = cut(name);
        more[at + 1] = cut(value);
        return more;
    }

    private static boolean isText(String text) {
        return text != null && text.indexOf(0) < 0;
    }

    /** Longer ones are refused all the same, and must not be kept. */
    private static String cut(String text) {
        return text.length() <= LONGEST ? text : text.substring(0, LONGEST);
    }

    /** Gives the handle of a tag with these labels as well; see {@link Calls#addLabels}. */
    public static long addedTo(long tag, String[] labels) {
        int hash = Arrays.hashCode(labels) + 31 * Long.hashCode(tag);
        int place = (hash ^ hash >>> 16) & KNOWN.length - 1;
        Known known = KNOWN[place];
        if (known != null && known.tag == tag && Arrays.equals(known.labels, labels)) {
            return known.handle;
        }
        long handle = Calls.addLabels(tag, labels);
        if (handle != 0) {
            KNOWN[place] = new Known(tag, labels, handle);
        }
        return handle;
    }
}
