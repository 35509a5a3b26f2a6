// SPDX-License-Identifier: LGPL-2.1-or-later
package io.pcp.trace.internal;

/**
 * The native library that the process has loaded. Lives in the boot class loader, where every class
 * loader's {@link Library} finds it, so it must not refer to another class of ours. See
 * native/one_library.c.
 */
public final class Loaded {
    private Loaded() {}

    /**
     * Binds a class loader's {@code Native} to the library.
     *
     * @param natives the class loader's {@code Native}
     * @param version its {@code VERSION}
     * @return whether the library has the same methods
     */
    public static native boolean bind(Class<?> natives, int version);
}
