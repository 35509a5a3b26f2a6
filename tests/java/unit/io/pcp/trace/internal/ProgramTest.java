// SPDX-License-Identifier: LGPL-2.1-or-later
package io.pcp.trace.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class ProgramTest {
    @Test
    void isTheMainClassOrTheJar() {
        assertEquals("Shop", Library.nameIn("Shop"));
        assertEquals("com.example.Shop", Library.nameIn("com.example.Shop /data/x.jar -v"));
        assertEquals("com.example.Shop", Library.nameIn("shop.module/com.example.Shop a b"));
        assertEquals("shop.jar", Library.nameIn("shop.jar"));
        assertEquals("shop.jar", Library.nameIn("../lib/shop.jar serve x.jar"));
        assertEquals("shop 2.jar", Library.nameIn("/opt/my programs/shop 2.jar serve"));
        assertEquals("java", Library.nameIn(""));
    }
}
