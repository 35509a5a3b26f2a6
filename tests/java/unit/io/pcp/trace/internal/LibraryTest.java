// SPDX-License-Identifier: LGPL-2.1-or-later
package io.pcp.trace.internal;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import java.io.ByteArrayInputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;

class LibraryTest {
    @Test
    void unpacksIntoAFileThatOnlyItsOwnerCanUse() throws Exception {
        byte[] content = {1, 2, 3};
        Path first = Library.unpack(new ByteArrayInputStream(content));
        Path second = Library.unpack(new ByteArrayInputStream(content));
        try {
            assertArrayEquals(content, Files.readAllBytes(first));
            assertEquals(PosixFilePermissions.fromString("rw-------"),
                    Files.getPosixFilePermissions(first));
            assertNotEquals(first, second);
        } finally {
            Files.delete(first);
            Files.delete(second);
        }
    }

    @Test
    void namesTheServiceAfterTheMainClassOrTheJar() {
        assertEquals("Shop", Library.nameIn("Shop"));
        assertEquals("com.example.Shop", Library.nameIn("com.example.Shop /data/x.jar -v"));
        assertEquals("com.example.Shop", Library.nameIn("shop.module/com.example.Shop a b"));
        assertEquals("shop.jar", Library.nameIn("shop.jar"));
        assertEquals("shop.jar", Library.nameIn("../lib/shop.jar serve x.jar"));
        assertEquals("shop 2.jar", Library.nameIn("/opt/my programs/shop 2.jar serve"));
        assertEquals("java", Library.nameIn(""));
    }
}
