// SPDX-License-Identifier: LGPL-2.1-or-later
// The worker of a pretend shop, which order_stock asks through a socket:
//
//   java -cp pcp-trace.jar OrderWorker.java SOCKET
//
// A question is a line, "TRACEPARENT ARTICLE", and the answer is "ok" or why not. The work for a
// question belongs to its trace; without a trace TRACEPARENT is "-".
import static java.nio.charset.StandardCharsets.UTF_8;

import io.pcp.trace.Transaction;
import java.io.BufferedReader;
import java.io.PrintWriter;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.Channels;
import java.nio.channels.ServerSocketChannel;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

final class OrderWorker {
    private static final Transaction PICK = Transaction.of("pick");
    private static final Transaction LOCK_SHELF = Transaction.of("lock-shelf");

    private static void workFor(long microseconds) {
        LockSupport.parkNanos(TimeUnit.MICROSECONDS.toNanos(microseconds));
    }

    private static String pick(String traceparent, int article) {
        try (var running = PICK.beginFrom(traceparent)) {
            int left = article % 3;
            running.note("left", left);
            LOCK_SHELF.run(() -> workFor(1500));
            workFor(800);
            if (left == 0) {
                running.fail("sold out");
                return "sold out";
            }
            return "ok";
        }
    }

    public static void main(String[] arguments) throws Exception {
        if (arguments.length != 1) {
            System.err.println("Usage: OrderWorker SOCKET");
            System.exit(2);
        }
        try (var listening = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            listening.bind(UnixDomainSocketAddress.of(arguments[0]));
            System.out.println("ready");
            try (var client = listening.accept();
                    var questions = new BufferedReader(Channels.newReader(client, UTF_8));
                    var answers = new PrintWriter(Channels.newOutputStream(client), true)) {
                for (String line; (line = questions.readLine()) != null;) {
                    var question = line.split(" ");
                    answers.println(pick(question[0], Integer.parseInt(question[1])));
                }
            }
        }
    }
}
