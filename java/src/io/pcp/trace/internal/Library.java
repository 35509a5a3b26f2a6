package io.pcp.trace.internal;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Finds and loads the native library: the system's, else the one in the jar.
 *
 * <p>The number in its name is that of the interface between the two. Whoever changes a method of
 * {@link Native} raises it, so that a jar never meets a library of another version.
 */
final class Library {
    static final String NAME = "pcp_trace_java-1";

    private Library() {}

    static void load() {
        UnsatisfiedLinkError system;
        try {
            System.loadLibrary(NAME);
            return;
        } catch (UnsatisfiedLinkError error) {
            system = error;
        }
        try {
            loadPacked();
        } catch (IOException | UnsatisfiedLinkError packed) {
            throw explain(system, packed);
        }
    }

    /** Where the jar has the library for this machine. */
    static String packedName() {
        return "/META-INF/native/linux-" + System.getProperty("os.arch") + "/"
                + System.mapLibraryName(NAME);
    }

    private static void loadPacked() throws IOException {
        try (InputStream packed = Library.class.getResourceAsStream(packedName())) {
            if (packed == null) {
                throw new IOException("the jar has none for this machine");
            }
            Path file = unpack(packed);
            try {
                System.load(file.toString());
            } finally {
                Files.delete(file); // what is loaded stays
            }
        }
    }

    /**
     * Writes the library into a new file that nobody else can guess, read or write: {@code
     * createTempFile} takes an unpredictable name, refuses what is there already, and opens it for
     * its owner alone.
     */
    static Path unpack(InputStream packed) throws IOException {
        Path file = Files.createTempFile("pcp-trace-", ".so").toAbsolutePath();
        try (OutputStream out = Files.newOutputStream(file)) {
            packed.transferTo(out);
        } catch (IOException error) {
            Files.delete(file);
            throw error;
        }
        return file;
    }

    private static UnsatisfiedLinkError explain(UnsatisfiedLinkError system, Throwable packed) {
        String text = """
                io.pcp.trace finds no native library that works. Tried:
                  %s on java.library.path: %s
                  %s in the jar, unpacked into java.io.tmpdir (%s): %s
                Install pcp-trace's %s where -Djava.library.path or LD_LIBRARY_PATH says, or let
                -Djava.io.tmpdir name a directory that may be written to and executed from.""";
        String file = System.mapLibraryName(NAME);
        var error = new UnsatisfiedLinkError(text.formatted(file, system.getMessage(), packedName(),
                System.getProperty("java.io.tmpdir"), packed, file));
        error.initCause(packed);
        return error;
    }
}
