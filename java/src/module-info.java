// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * Application tracing for Performance Co-Pilot. {@link io.pcp.trace} is the interface to use;
 * {@link sgi.pcp} has the one that PCP's manual describes.
 */
module io.pcp.trace {
    exports io.pcp.trace;
    exports sgi.pcp;
}
