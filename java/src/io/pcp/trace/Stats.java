// SPDX-License-Identifier: LGPL-2.1-or-later
package io.pcp.trace;

/**
 * The native library's own counters since the start of the JVM. See {@link Trace#stats}.
 *
 * @param recorded calls
 * @param acknowledged of those, calls that the agent has acknowledged
 * @param pending calls that wait to be sent or to be acknowledged
 * @param uncertain calls sent to PCP's own agent that may or may not have been counted
 * @param merged calls that found their thread's queue full and were added up on the spot
 * @param thinned values among those that percentiles miss
 * @param undeliverable calls whose tag PCP's own agent cannot take (125 bytes or more)
 * @param aborted aborted transactions, counted when sent: complete after a flush
 * @param batches messages sent
 * @param reconnects connections made after the first one
 * @param connected whether an agent is connected now
 * @param version the agent's protocol version: 1 PCP's own, 2 ours; 0: none yet
 * @param labelsCut tags with labels that got the bare name: too long
 * @param labelsOver tags with labels that got the bare name: too many label sets
 * @param unlisted transactions begun beyond the limit of open ones: counted, but without age
 */
public record Stats(
        long recorded,
        long acknowledged,
        long pending,
        long uncertain,
        long merged,
        long thinned,
        long undeliverable,
        long aborted,
        long batches,
        long reconnects,
        boolean connected,
        int version,
        long labelsCut,
        long labelsOver,
        long unlisted) {}
