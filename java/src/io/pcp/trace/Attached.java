// SPDX-License-Identifier: LGPL-2.1-or-later
package io.pcp.trace;

/** The time in which a thread works on a {@link Running}: see {@link Running#attach}. */
public final class Attached implements AutoCloseable {
    private final Running running;

    Attached(Running running) {
        this.running = running;
    }

    /** Ends the attachment. The transaction itself goes on. */
    @Override
    public void close() {
        running.detach();
    }
}
