// SPDX-License-Identifier: LGPL-2.1-or-later
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;

/** Runs WhereFrom in two class loaders, each of which has all classes for itself. */
final class TwoLoaders {
    public static void main(String[] paths) throws Exception {
        URL[] urls = {Path.of(paths[0]).toUri().toURL(), Path.of(paths[1]).toUri().toURL()};
        for (int i = 0; i < 2; i++) {
            // Not closed: their classes stay in use.
            @SuppressWarnings("resource")
            var loader = new URLClassLoader(urls, ClassLoader.getPlatformClassLoader());
            var main = loader.loadClass("WhereFrom").getDeclaredMethod("main", String[].class);
            main.setAccessible(true);
            main.invoke(null, (Object) new String[0]);
        }
    }
}
