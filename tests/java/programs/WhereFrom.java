// SPDX-License-Identifier: LGPL-2.1-or-later
import io.pcp.trace.Point;
import java.nio.file.Files;
import java.nio.file.Path;

/** Uses the native library, twice, and prints the lines of /proc/self/maps that name it. */
final class WhereFrom {
    public static void main(String[] arguments) throws Exception {
        for (int i = 0; i < 2; i++) {
            Point.of("somewhere").hit();
        }
        try (var lines = Files.lines(Path.of("/proc/self/maps"))) {
            lines.filter(line -> line.contains("pcp-trace-") || line.contains("pcp_trace_java"))
                    .forEach(System.out::println);
        }
    }
}
