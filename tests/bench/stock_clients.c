/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Loads an agent as programs with the stock library do: processes that call the linked libpcp_trace
 * in a loop, asynchronously. Prints the calls by type, and the calls that returned an error.
 *
 *   stock_clients PORT PROCESSES SECONDS MOST_CALLS_OF_EACH
 */
#include <linux/sockios.h>
#include <netinet/in.h>
#include <pcp/trace.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TYPES = 4, TAGS = 32, FAILED = TYPES, COUNTS };

static const char* const names[COUNTS] = {"transact", "point", "observe", "counter", "failed"};

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void die(const char* what) {
  perror(what);
  exit(1);
}

/* Tag 0 is a transaction, 1 a point, 2 an observation, 3 a counter, 4 a transaction again ... */
static int call(const char* name, int type, double value) {
  int began;
  switch (type) {
    case 0:
      began = pmtracebegin(name);
      return began < 0 ? began : pmtraceend(name);
    case 1:
      return pmtracepoint(name);
    case 2:
      return pmtraceobs(name, value);
    default:
      return pmtracecounter(name, value);
  }
}

static void call_until(double end, double most_calls, uint64_t* counts) {
  enum { CALLS_BETWEEN_LOOKS = 64 };
  static char tags[TAGS][16];
  int tag;
  uint64_t calls;
  for (tag = 0; tag < TAGS; ++tag) snprintf(tags[tag], sizeof tags[tag], "tag%04d", tag);

  pmtracestate(PMTRACE_STATE_ASYNC);
  for (calls = 0; (double)calls < most_calls; ++calls) {
    if (calls % CALLS_BETWEEN_LOOKS == 0 && now() >= end) break;
    tag = (int)(calls % TAGS);
    if (call(tags[tag], tag % TYPES, (double)(calls % 1000)) < 0) ++counts[FAILED];
    ++counts[tag % TYPES];
  }
}

/* The connection is reset when the process ends, and undelivered bytes are lost, whatever the agent
 * does. So this waits until all bytes are delivered, or the agent is gone. */
static void wait_until_delivered(void) {
  const struct timespec pause = {0, 10 * 1000 * 1000};
  struct pollfd hung_up = {0, 0, 0};
  struct sockaddr_in peer;
  socklen_t size;
  int waiting;
  for (hung_up.fd = 3; hung_up.fd < 20; ++hung_up.fd) {
    size = sizeof peer;
    if (getpeername(hung_up.fd, (struct sockaddr*)&peer, &size) != 0) continue;
    while (ioctl(hung_up.fd, SIOCOUTQ, &waiting) == 0 && waiting > 0 && poll(&hung_up, 1, 0) == 0)
      nanosleep(&pause, NULL);
  }
}

int main(int argc, char** argv) {
  const int clients = argc == 5 ? atoi(argv[2]) : 0;
  const double end = argc == 5 ? now() + atof(argv[3]) : 0;
  int i, count, status, failures = 0;
  /* A row for each client, in shared memory. */
  uint64_t* counts = mmap(NULL, (size_t)(clients + 1) * COUNTS * sizeof *counts,
                          PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (clients < 1 || counts == MAP_FAILED) die("stock_clients");
  /* The library takes its agent from the environment. */
  setenv("PCP_TRACE_HOST", "127.0.0.1", 1);
  setenv("PCP_TRACE_PORT", argv[1], 1);
  for (i = 0; i < clients; ++i) {
    const pid_t child = fork();
    if (child < 0) die("fork");
    if (child > 0) continue;
    call_until(end, atof(argv[4]), counts + i * COUNTS);
    wait_until_delivered();
    exit(0);
  }
  for (i = 0; i < clients; ++i)
    if (wait(&status) < 0 || status != 0) ++failures;
  if (failures > 0) fprintf(stderr, "stock_clients: %d processes failed\n", failures);
  for (count = 0; count < COUNTS; ++count) {
    unsigned long long sum = 0;
    for (i = 0; i < clients; ++i) sum += counts[i * COUNTS + count];
    printf("%s %llu\n", names[count], sum);
  }
  return 0;
}
