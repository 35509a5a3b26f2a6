// SPDX-License-Identifier: LGPL-2.1-or-later
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Runs WhereFrom in the given number of class loaders; each loads all classes for itself. At the end
 * prints how many threads the library has.
 */
final class ManyLoaders {
    public static void main(String[] arguments) throws Exception {
        URL[] urls = {Path.of(arguments[1]).toUri().toURL(), Path.of(arguments[2]).toUri().toURL()};
        for (int i = 0; i < Integer.parseInt(arguments[0]); i++) {
            try (var loader = new URLClassLoader(urls, ClassLoader.getPlatformClassLoader())) {
                var main = loader.loadClass("WhereFrom").getDeclaredMethod("main", String[].class);
                main.setAccessible(true);
                main.invoke(null, (Object) new String[0]);
            }
            System.gc(); // also for the first loader
        }
        try (var names = Files.list(Path.of("/proc/self/task"))) {
            System.out.println("threads " + names.filter(ManyLoaders::isOurs).count());
        }
    }

    private static boolean isOurs(Path thread) {
        try {
            return Files.readString(thread.resolve("comm")).startsWith("pcp_trace");
        } catch (java.io.IOException ended) {
            return false;
        }
    }
}
