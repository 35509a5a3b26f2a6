/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sets up signal handlers and an interval timer like an application, traces, waits for a line on
 * standard input (meanwhile the test may end the agent), traces on, and prints each difference to
 * the state before. Prints nothing else.
 */
#include <pcp/trace.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

static const int watched[] = {SIGALRM, SIGPIPE, SIGCHLD, SIGHUP, SIGUSR1};
enum { kWatched = sizeof watched / sizeof watched[0] };

static volatile sig_atomic_t caught;

static void handler(int number) { caught = number; }

static void trace(void) {
  int round;
  for (round = 0; round < 5; round++) {
    const struct timespec pause = {0, 50 * 1000 * 1000};
    pmtracepoint("point");
    pmtraceobs("observation", 1);
    pmtracebegin("transaction");
    pmtraceend("transaction");
    nanosleep(&pause, NULL); /* load: rounds of calls */
  }
}

static void check(const char* when) {
  struct sigaction action;
  struct itimerval timer;
  int i;
  for (i = 0; i < kWatched; i++) {
    sigaction(watched[i], NULL, &action);
    if (action.sa_handler != handler)
      printf("%s: signal %d has another handler\n", when, watched[i]);
  }
  getitimer(ITIMER_REAL, &timer);
  if (timer.it_interval.tv_sec != 2000 || timer.it_value.tv_sec < 900)
    printf("%s: the interval timer was touched\n", when);
  if (caught != 0) printf("%s: signal %d was caught\n", when, (int)caught);
}

int main(void) {
  const struct itimerval timer = {{2000, 0}, {1000, 0}};
  struct sigaction action;
  char line[8];
  int i;
  memset(&action, 0, sizeof action);
  action.sa_handler = handler;
  for (i = 0; i < kWatched; i++) sigaction(watched[i], &action, NULL);
  setitimer(ITIMER_REAL, &timer, NULL);

  trace();
  check("with the first agent");
  fputs("ready\n", stderr);
  if (fgets(line, sizeof line, stdin) == NULL) return 2;
  trace();
  check("later");
  return 0;
}
