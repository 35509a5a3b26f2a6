// SPDX-License-Identifier: LGPL-2.1-or-later
import sgi.pcp.trace;

/** A program in the style of PCP's manual page: import, calls, int results and a String. */
final class FromTheManual {
    private static void check(int code) {
        if (code < 0) {
            String text = trace.pmtraceerrstr(code);
            System.err.println(text);
            System.exit(1);
        }
    }

    public static void main(String[] arguments) {
        int flags = trace.pmtracestate(0);
        check(flags);
        for (int i = 1; i <= 3; i++) {
            check(trace.pmtracebegin("main loop"));
            check(trace.pmtraceobs("iteration", i));
            check(trace.pmtracecounter("iterations", 10 * i));
            check(trace.pmtracecount("older-name", i));
            check(trace.pmtraceend("main loop"));
        }
        check(trace.pmtracebegin("given up"));
        check(trace.pmtraceabort("given up"));
        check(trace.pmtracepoint("end reached"));
    }
}
