/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The stock of a pretend shop, which order_front asks through a socket:
 *
 *   order_worker SOCKET
 *
 * A question is a line, "TRACEPARENT ARTICLE", and the answer is "y" or "n". The work for a
 * question belongs to its trace; without a trace TRACEPARENT is "-".
 */
#include <pcp/trace.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static pmtrace_handle reserve, lock_shelf;

static int is_there(int article) {
  pmtrace_tx transaction;
  pmtrace_begin(lock_shelf, &transaction);
  usleep(1500);
  pmtrace_end(&transaction);
  usleep(800);
  return article % 3 != 0;
}

int main(int argc, char** argv) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  char traceparent[PMTRACE_CONTEXT_SIZE];
  const int listening = socket(AF_UNIX, SOCK_STREAM, 0);
  FILE* questions;
  int client, article;
  if (argc != 2) {
    fputs("Usage: order_worker SOCKET\n", stderr);
    return 2;
  }
  strncpy(address.sun_path, argv[1], sizeof address.sun_path - 1);
  reserve = pmtrace_tag("reserve");
  lock_shelf = pmtrace_tag("lock-shelf");
  if (bind(listening, (struct sockaddr*)&address, sizeof address) != 0 ||
      listen(listening, 1) != 0 || (client = accept(listening, NULL, NULL)) < 0 ||
      (questions = fdopen(client, "r")) == NULL) {
    perror("order_worker");
    return 1;
  }
  while (fscanf(questions, "%55s %d", traceparent, &article) == 2) {
    pmtrace_tx transaction;
    pmtrace_begin_from(reserve, &transaction, traceparent, NULL);
    pmtrace_note_number(&transaction, "article", article);
    const int has_some = is_there(article);
    if (has_some)
      pmtrace_end(&transaction);
    else
      pmtrace_fail(&transaction, "sold out");
    if (write(client, has_some ? "y" : "n", 1) != 1) break;
  }
  return 0;
}
