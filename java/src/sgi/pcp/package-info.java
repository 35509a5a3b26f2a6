// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * The interface that PCP's manual page pmtrace(3) describes, so that code written to it compiles
 * and runs: {@code import sgi.pcp.trace;}. New code should use {@link io.pcp.trace}.
 */
package sgi.pcp;
