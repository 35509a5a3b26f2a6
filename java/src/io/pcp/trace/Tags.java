package io.pcp.trace;

import io.pcp.trace.internal.Native;

/** From a tag to the native library's handle of it. */
final class Tags {
    private Tags() {}

    static long find(String tag) {
        long handle = Native.tag(tag);
        if (handle > 0) {
            return handle;
        }
        int error = (int) handle;
        if (error == Native.OUT_OF_MEMORY) {
            throw new OutOfMemoryError("no memory for a tag");
        }
        throw new IllegalArgumentException(Native.errorText(error));
    }
}
