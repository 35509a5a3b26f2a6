// SPDX-License-Identifier: LGPL-2.1-or-later
package io.pcp.trace.internal;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Finds the native library that another class loader has loaded, or loads it: the system's, or the
 * jar's. If all fails, it prints so once and the program runs on, unless the system property
 * {@value #REQUIRED} is true.
 */
final class Library {
    static final String NAME = "pcp_trace_java-" + Native.VERSION;

    /** A constant string: the same object in all class loaders. */
    private static final Object ONE_AT_A_TIME = "io.pcp.trace.internal.Library";

    /** HotSpot's id of the thread that runs main(): 1, since Java 25 3. Programs' own begin above 10. */
    private static final long HIGHEST_MAIN_THREAD = 3;

    private static final String REQUIRED = "io.pcp.trace.required";

    private Library() {}

    /**
     * Tells whether the library is loaded. With PCP_TRACE_NOAGENT in the environment it is not
     * needed, unless it is to write a file of mmv(5).
     */
    static boolean load() {
        if (System.getenv("PCP_TRACE_NOAGENT") != null && System.getenv("PCP_TRACE_MMV") == null) {
            return false;
        }
        UnsatisfiedLinkError problem;
        synchronized (ONE_AT_A_TIME) {
            problem = bindToLoaded() ? null : findProblem();
        }
        if (problem == null) {
            return true;
        }
        if (Boolean.getBoolean(REQUIRED)) {
            throw problem;
        }
        System.err.println(problem.getMessage());
        System.err.println("Until then nothing is traced: calls do nothing. With -D" + REQUIRED
                + "=true the first one throws this as an error.");
        return false;
    }

    private static boolean bindToLoaded() {
        try {
            return (boolean) Class.forName(Loaded.class.getName(), true, null)
                    .getMethod("bind", Class.class, int.class)
                    .invoke(null, Native.class, Native.VERSION);
        } catch (ReflectiveOperationException | LinkageError nothingIsLoaded) {
            return false;
        }
    }

    /** The JVM's own threads with such ids, as that of finalizers, are in the group above main's. */
    private static boolean isMain(Thread thread) {
        return thread.getId() <= HIGHEST_MAIN_THREAD && thread.getThreadGroup().getParent() != null;
    }

    /** Prepares a newly loaded library. */
    private static void begin() {
        String command = System.getProperty("sun.java.command", "");
        Native.setService(nameIn(command).getBytes(StandardCharsets.UTF_8));
        if (isMain(Thread.currentThread())) {
            Native.noteMainThread();
        }
        try (InputStream code = Library.class.getResourceAsStream("Loaded.class")) {
            Native.share(code.readAllBytes());
        } catch (IOException | LinkageError | RuntimeException notShared) {
            // Then the next class loader loads its own library.
        }
    }

    /**
     * Gives the name of the main class, or of the started jar: the process's name is only "java".
     * The command is a class, {@code module/class} or a jar's path, and arguments.
     */
    static String nameIn(String command) {
        String what = (command + " ").substring(0, (command + " ").indexOf(' '));
        int jar = (command + " ").indexOf(".jar ");
        if (what.contains("/") && jar >= 0) { // a path may have blanks
            what = command.substring(0, jar + ".jar".length());
        }
        String name = what.substring(what.lastIndexOf('/') + 1);
        return name.isEmpty() ? "java" : name;
    }

    /** Tries to load the library. Gives null, or the reason of the failure. */
    private static UnsatisfiedLinkError findProblem() {
        UnsatisfiedLinkError system;
        try {
            System.loadLibrary(NAME);
            begin();
            return null;
        } catch (IllegalCallerException denied) {
            return explain(denied);
        } catch (UnsatisfiedLinkError error) {
            system = error;
        }
        try {
            loadPacked();
            begin();
            return null;
        } catch (IOException | LinkageError | RuntimeException packed) {
            // Other errors count, too: an impossible java.io.tmpdir breaks classes of the JVM.
            return explain(system, packed);
        }
    }

    /** The library's path in the jar for this machine. */
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
                file.toFile().delete(); // a loaded library stays
            }
        }
    }

    /**
     * Writes the library into a new file that no other user can guess, read or write: {@code
     * createTempFile} takes an unpredictable name, refuses an existing file, and opens it for its
     * owner only.
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

    /** From Java 24 on a JVM may be told to deny native code; later ones are to do so by themselves. */
    private static UnsatisfiedLinkError explain(IllegalCallerException denied) {
        Module ours = Library.class.getModule();
        var error = new UnsatisfiedLinkError("io.pcp.trace may not load its native library: "
                + denied.getMessage() + "\nStart java with --enable-native-access="
                + (ours.isNamed() ? ours.getName() : "ALL-UNNAMED"));
        error.initCause(denied);
        return error;
    }

    private static UnsatisfiedLinkError explain(UnsatisfiedLinkError system, Throwable packed) {
        String text = """
                io.pcp.trace finds no native library that works. Tried:
                  %s on java.library.path: %s
                  %s in the jar%s: %s
                Let -Djava.library.path or LD_LIBRARY_PATH name the directory of pcp-trace's %s,
                built for this machine (lib/jni where it was installed)%s.""";
        boolean isPacked = Library.class.getResource(packedName()) != null;
        String unpacked = isPacked
                ? ", unpacked into java.io.tmpdir (" + System.getProperty("java.io.tmpdir") + ")" : "";
        String otherwise = isPacked ? ", or let\n-Djava.io.tmpdir name a directory that may be "
                + "written to and executed from" : "";
        String file = System.mapLibraryName(NAME);
        var error = new UnsatisfiedLinkError(text.formatted(file, system.getMessage(), packedName(),
                unpacked, isPacked ? packed : packed.getMessage(), file, otherwise));
        error.initCause(packed);
        return error;
    }
}
