// SPDX-License-Identifier: LGPL-2.1-or-later
package io.pcp.trace.internal;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.ArrayList;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The transactions that are attached to a virtual thread, innermost last. The native library keeps
 * those of a platform thread, by the same rules (its spans/thread_trace.hpp); but all virtual
 * threads of a carrier would share them. A native call is whole: no virtual thread leaves its
 * carrier within it.
 */
final class Attachments {
    /** A transaction, as Calls knows it. */
    record Open(long tag, long begun, boolean isByHand) {
        private boolean is(long tag, long begun) {
            return this.tag == tag && this.begun == begun;
        }

        private boolean hasEnded() {
            return !Native.isOpen(tag, begun);
        }
    }

    /** Parts of this have no parent. */
    private static final Open NO_PARENT = new Open(0, 0, true);

    /** If there are more, the outermost is dropped, as of a platform thread: they may never end. */
    private static final int MOST = 48;

    private static final MethodHandle IS_VIRTUAL = findIsVirtual(); // null before Java 19
    private static final ThreadLocal<ArrayList<Open>> OF_THREAD = new ThreadLocal<>();

    /**
     * Until a transaction in a trace begins on a virtual thread, no such thread looks for its own:
     * even that takes memory. A thread needs to see only what it has written itself.
     */
    private static boolean areUsed;

    private static final Set<String> SAID = ConcurrentHashMap.newKeySet();

    private Attachments() {}

    private static MethodHandle findIsVirtual() {
        try {
            return MethodHandles.publicLookup().findVirtual(Thread.class, "isVirtual",
                    MethodType.methodType(boolean.class));
        } catch (ReflectiveOperationException older) {
            return null;
        }
    }

    /** Tells whether a virtual thread calls. */
    static boolean areHere() {
        try {
            return IS_VIRTUAL != null && (boolean) IS_VIRTUAL.invokeExact(Thread.currentThread());
        } catch (Error stackOverflow) {
            throw stackOverflow;
        } catch (Throwable never) {
            throw new AssertionError(never);
        }
    }

    /** Says once what cannot nest, and what to call instead. */
    static void say(String text) {
        if (SAID.add(text)) {
            System.err.println("io.pcp.trace: " + text);
        }
    }

    private static ArrayList<Open> all() {
        return areUsed ? OF_THREAD.get() : null;
    }

    private static void push(Open open) {
        areUsed = true;
        ArrayList<Open> all = OF_THREAD.get();
        if (all == null) {
            all = new ArrayList<>(4);
            OF_THREAD.set(all);
        } else if (all.size() == MOST) {
            all.remove(0);
        }
        all.add(open);
    }

    // For virtual threads only.

    /** Gives the one that new transactions are inside of; null: they are outermost. */
    static Open innermost() {
        ArrayList<Open> all = all();
        while (all != null && !all.isEmpty()) {
            Open last = all.get(all.size() - 1);
            boolean hasEnded = last.hasEnded();
            if (hasEnded && last.isByHand) {
                say("on a virtual thread nothing can be inside of an attached transaction that has ended:"
                        + " call close() after its parts");
                return NO_PARENT;
            }
            if (!hasEnded) {
                return last.isByHand || Native.nests(last.tag) ? last : NO_PARENT;
            }
            Native.disown(last.tag, 0);
            all.remove(all.size() - 1);
        }
        return null;
    }

    static long begin(long tag) {
        Open around = innermost();
        return keep(tag, around == null ? Native.begin(tag, true)
                : Native.beginUnder(tag, around.tag, around.begun, true));
    }

    /** Attaches what has begun: a part of a trace, or what hides the one around. Gives its number. */
    static long keep(long tag, long marked) {
        boolean isAttached = marked > 0 && (marked & Native.ATTACHED) != 0;
        long begun = isAttached ? marked ^ Native.ATTACHED : marked;
        ArrayList<Open> all = all();
        if (isAttached || begun > 0 && all != null && !all.isEmpty()) {
            push(new Open(tag, begun, false));
        }
        return begun;
    }

    // On other threads these do nothing, and give false.

    /** Removes what ends now. If something inside goes on, the tag is no parent any more. */
    static void leave(long tag, long begun) {
        if (areUsed && areHere()) {
            leaveHere(tag, begun);
        }
    }

    private static void leaveHere(long tag, long begun) {
        ArrayList<Open> all = all();
        Open inner = null;
        for (int at = all == null ? 0 : all.size(); at-- > 0;) {
            Open each = all.get(at);
            if (each.is(tag, begun)) {
                if (inner != null) {
                    Native.disown(tag, inner.tag);
                }
                all.remove(at);
                return;
            }
            if (!each.isByHand && !each.hasEnded()) {
                inner = each;
            }
        }
    }

    static boolean attach(long tag, long begun) {
        boolean isVirtual = detach(tag, begun);
        if (isVirtual && Native.isOpen(tag, begun)) {
            push(new Open(tag, begun, true));
        }
        return isVirtual;
    }

    /** Removes it; begun 0: the innermost of those attached by hand that have ended. */
    static boolean detach(long tag, long begun) {
        if (!areHere()) {
            return false;
        }
        ArrayList<Open> all = all();
        for (int at = all == null ? 0 : all.size(); at-- > 0;) {
            Open each = all.get(at);
            if (begun != 0 ? each.is(tag, begun) : each.isByHand && each.hasEnded()) {
                all.remove(at);
                break;
            }
        }
        return true;
    }

    /** Does a call that {@link Native#recordInside} numbers, inside of the innermost. */
    static boolean record(int call, long tag, double value) {
        return areUsed && areHere() && recordHere(call, tag, value);
    }

    private static boolean recordHere(int call, long tag, double value) {
        Open around = innermost();
        if (around != null) {
            Native.recordInside(call, tag, value, around.tag, around.begun);
        }
        return around != null;
    }
}
