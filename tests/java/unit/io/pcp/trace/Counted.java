// SPDX-License-Identifier: LGPL-2.1-or-later
package io.pcp.trace;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;

/** The calls that the native library counted while some work was done. */
public record Counted(long recorded, long aborted) {
    /** Work whose calls are counted. */
    public interface Work {
        void run() throws Exception;
    }

    public static Counted by(Work work) throws Exception {
        Stats before = delivered();
        work.run();
        Stats after = delivered();
        return new Counted(
                after.recorded() - before.recorded(), after.aborted() - before.aborted());
    }

    private static Stats delivered() {
        assertTrue(Trace.flush(Duration.ofSeconds(30)));
        return Trace.stats();
    }
}
