// SPDX-License-Identifier: LGPL-2.1-or-later
package io.pcp.trace.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class ProgramTest {
    @Test
    void isTheMainClassOrTheJar() {
        assertEquals("Shop", Program.nameIn("Shop"));
        assertEquals("com.example.Shop", Program.nameIn("com.example.Shop /data/x.jar -v"));
        assertEquals("com.example.Shop", Program.nameIn("shop.module/com.example.Shop a b"));
        assertEquals("shop.jar", Program.nameIn("shop.jar"));
        assertEquals("shop.jar", Program.nameIn("../lib/shop.jar serve x.jar"));
        assertEquals("shop 2.jar", Program.nameIn("/opt/my programs/shop 2.jar serve"));
        assertEquals("java", Program.nameIn(""));
    }
}
