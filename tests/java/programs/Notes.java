// SPDX-License-Identifier: LGPL-2.1-or-later
import io.pcp.trace.Running;
import io.pcp.trace.Trace;
import io.pcp.trace.Transaction;
import java.time.Duration;
import java.util.Arrays;

/**
 * Once its transaction is captured, makes the notes that tests/support/noted.py expects, with all
 * calls that Java has for them; or notes texts that only Java can have.
 *
 * <p>Notes [texts|throws message|throws none|throws again]
 */
final class Notes {
    private static final String TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    private static final Transaction REQUEST = Transaction.of("request");

    /** Notes of a transaction that nobody has asked for are not kept for the next one. */
    private static Running beginCaptured() throws InterruptedException {
        Running running = REQUEST.begin();
        while (!running.isCaptured()) {
            running.note("early", "text");
            running.close();
            Thread.sleep(10);  // poll: until it is captured
            running = REQUEST.begin();
        }
        return running;
    }

    private static void noteWhatIsWrong(Running running) {
        for (String key : Arrays.asList(null, "", "a\0b", "\ud83d", "€".repeat(43), "k".repeat(100_000))) {
            running.note(key, "text");
            running.note(key, 1);
            running.link(key);
        }
    }

    private static void noteTexts(Running running) {
        running.note("none", (String) null);
        running.note("größe 😀", "a\0b");
        running.note("half", "\ud83d|\ude00|😀");
        running.note("cut", "v" + "€".repeat(1366));
        running.note("pair", "v".repeat(4095) + "😀");
        running.fail(null);
    }

    private static void noteAll(Running running) {
        running.note("route", "/nowhere");
        running.note("rows", 12.5f);
        running.note("bytes", 4096L);
        running.note("route", "/käse");
        running.note("k".repeat(128), "yes");
        running.note("long", "v".repeat(100_000));
        noteWhatIsWrong(running);
        running.link(TRACE);
        running.want("chosen");
        running.want(null);
        running.fail("declined");
        running.note("late", "text");
        running.fail("late");
    }

    private static void throwIn(Running running, String name) {
        running.close();
        Throwable thrown = switch (name) {
            case "message" -> new IllegalStateException("sold out");
            case "none" -> new IllegalStateException();
            default -> new IllegalStateException() {
                @Override
                public String getMessage() {
                    throw new UnsupportedOperationException();
                }
            };
        };
        try {
            if (name.equals("none")) {
                REQUEST.call(within -> {
                    throw (Exception) thrown;
                });
            }
            REQUEST.call(() -> {
                throw (Exception) thrown;
            });
        } catch (Exception caught) {
            if (caught != thrown) {
                System.exit(1);
            }
        }
    }

    public static void main(String[] arguments) throws InterruptedException {
        Running running = beginCaptured();
        if (arguments.length > 1) {
            throwIn(running, arguments[1]);
        } else if (arguments.length > 0) {
            noteTexts(running);
        } else {
            noteAll(running);
        }
        if (running.isCaptured() || !Trace.flush(Duration.ofSeconds(100))) {
            System.exit(1);
        }
    }
}
