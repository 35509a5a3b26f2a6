// SPDX-License-Identifier: LGPL-2.1-or-later
package io.pcp.trace;

import io.pcp.trace.internal.Calls;

/** From a tag to the native library's handle of it. */
final class Tags {
    private Tags() {}

    static long find(String tag) {
        long handle = Calls.tag(tag);
        if (handle >= 0) { // 0: the library is not loaded
            return handle;
        }
        int error = (int) handle;
        if (error == Calls.OUT_OF_MEMORY) {
            throw new OutOfMemoryError("no memory for a tag");
        }
        throw new IllegalArgumentException(Calls.problemOf(tag, error));
    }
}
