/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Three processes that pass requests on: front, middle and back. Each request is a transaction in
 * each of them, "checkout", "stock" and "query". A line of standard input,
 *
 *   COUNT EVERY PLACE MS
 *
 * makes so many requests. Each EVERYth waits in process PLACE, 0 to 2, for so long; or with MS -1
 * fails there, with -2 is wanted there, and with -3 a signal kills the process. The front prints
 * the headers of these requests, and an empty line. With PLACE -1 each process begins anew until
 * the transaction is captured. With PLACE 3 middle and back end, and then the front waits. The
 * agents of middle and back are at the sockets in the variables of these names, if there are any.
 */
#define _GNU_SOURCE
#include <pcp/trace.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct request {
  char traceparent[PMTRACE_CONTEXT_SIZE];
  int place;
  int ms;
};

enum { kOthersEnd = 3, kFrontEnds = 4, kFails = -1, kIsWanted = -2, kIsKilled = -3 };
static const char* const kServices[] = {"front", "middle", "back"};
static const char* const kTags[] = {"checkout", "stock", "query"};
static const int kSignals[] = {SIGKILL, SIGSEGV, SIGABRT};

static void wait_ms(int ms) {
  const struct timespec pause = {ms / 1000, ms % 1000 * 1000000L};
  nanosleep(&pause, NULL); /* load: the slowness */
}

static void begin(int place, pmtrace_handle tag, pmtrace_tx* tx, const struct request* request) {
  if (place == 0)
    pmtrace_begin(tag, tx);
  else
    pmtrace_begin_from(tag, tx, request->traceparent, NULL);
}

/* Begins inside the headers, asks the next process, and ends. */
static int serve(int place, pmtrace_handle tag, struct request* request, int next) {
  static const struct timespec between_looks = {0, 1000000};
  pmtrace_tx tx;
  char answer;
  begin(place, tag, &tx, request);
  for (; request->place < 0 && !pmtrace_is_captured(&tx); begin(place, tag, &tx, request)) {
    pmtrace_end(&tx);
    nanosleep(&between_looks, NULL); /* poll: until the process has the filter */
  }
  if (request->place == place && request->ms == kIsWanted) pmtrace_want(&tx, "chosen");
  if ((request->place == place && request->ms > 0) || (request->place == kFrontEnds && place == 0))
    wait_ms(request->ms);
  if (next >= 0) {
    pmtrace_context(&tx, request->traceparent, sizeof request->traceparent);
    if (write(next, request, sizeof *request) != sizeof *request || read(next, &answer, 1) != 1) {
      pmtrace_fail(&tx, "no answer");
      return -1;
    }
  }
  if (request->place == kOthersEnd && place == 0) {
    while (wait(NULL) > 0) continue;
    wait_ms(request->ms);
  }
  if (request->place == place && request->ms == kIsKilled) raise(kSignals[place]);
  if (request->place == place && request->ms == kFails) return pmtrace_fail(&tx, "refused");
  return pmtrace_end(&tx);
}

static void be(int place, int from, int next) {
  struct request request;
  pmtrace_handle tag;
  const char* socket = getenv(kServices[place]);
  if (socket != NULL) setenv("PCP_TRACE_SOCKET", socket, 1);
  setenv("PCP_TRACE_SERVICE", kServices[place], 1);
  tag = pmtrace_tag(kTags[place]);
  while (read(from, &request, sizeof request) == sizeof request) {
    if (serve(place, tag, &request, next) < 0) break;
    if (write(from, "", 1) != 1 || request.place == kOthersEnd) break;
  }
  exit(0);
}

int main(void) {
  int to_middle[2], to_back[2], count, every, place, ms;
  pmtrace_handle tag;
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, to_middle) != 0 ||
      socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, to_back) != 0)
    return 1;
  if (fork() == 0) {
    close(to_middle[0]);
    close(to_back[1]);
    be(1, to_middle[1], to_back[0]);
  }
  if (fork() == 0) {
    close(to_middle[0]);
    close(to_middle[1]);
    close(to_back[0]);
    be(2, to_back[1], -1);
  }
  close(to_middle[1]);
  close(to_back[0]);
  close(to_back[1]);
  setenv("PCP_TRACE_SERVICE", kServices[0], 1);
  tag = pmtrace_tag(kTags[0]);
  while (scanf("%d %d %d %d", &count, &every, &place, &ms) == 4) {
    for (int i = 1; i <= count; ++i) {
      struct request request = {"", place, i % every == 0 ? ms : 0};
      const int done = serve(0, tag, &request, to_middle[0]);
      if (request.ms != 0) puts(request.traceparent);
      if (done < 0) return 1;
      if (request.place == kFrontEnds) exit(puts("") < 0);
    }
    puts("");
    fflush(stdout);
  }
  close(to_middle[0]);
  while (wait(NULL) > 0) continue;
  return 0;
}
