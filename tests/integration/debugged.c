/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Does the acts that the arguments name, in order, and prints each act's result on standard output.
 * The status is 0 unless a library call changed errno or left a signal pending.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pcp/trace.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 4, ROUNDS = 2000 };

static int point(void) { return pmtracepoint("place") > 0; }

/* Before any other call. */
static int describe(void) {
  pmtrace_handle tag = pmtrace_tag("place");
  return pmtrace_describe(tag, "ms", NULL) != 0 || pmtrace_describe(tag, "", "all of it") != 0;
}

static int print_calls(void) { return pmtracestate(PMTRACE_STATE_API) < 0; }

static int print_nothing(void) { return pmtracestate(PMTRACE_STATE_NONE) < 0; }

/* One call for each kind of refusal. */
static int refused(void) {
  pmtrace_tx transaction = {{0}};
  char too_long[256];
  memset(too_long, 'x', 255);
  too_long[255] = '\0';
  pmtrace_point(pmtrace_tag(too_long));
  pmtrace_begin(pmtrace_tag(""), &transaction);
  pmtrace_end(&transaction);
  pmtracepoint("");
  pmtraceend("typo");
  pmtracebegin("twice");
  pmtracebegin("twice");
  return 0;
}

/* Like su. */
static int become_nobody(void) { return geteuid() == 0 && setuid(65534); }

static int leave_directory(void) { return chdir("/"); }

static int wait_for_line(void) { return getchar() == EOF; }

static int forked(void) {
  int status = -1;
  const pid_t child = fork();
  if (child == 0) exit(pmtracepoint("child") > 0);
  printf("child %d\n", (int)child);
  return waitpid(child, &status, 0) != child || status != 0;
}

static void* make_calls(void* unused) {
  int i;
  for (i = 0; i < ROUNDS; i++) pmtracepoint("place");
  return unused;
}

static int many(void) {
  pthread_t threads[THREADS];
  int i;
  for (i = 0; i < THREADS; i++)
    if (pthread_create(&threads[i], NULL, make_calls, NULL) != 0) return 1;
  for (i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  return 0;
}

static int allow_no_growth(void) {
  const struct rlimit none = {0, 0};
  return setrlimit(RLIMIT_FSIZE, &none);
}

static int keep_errno(void) {
  errno = 77;
  pmtracepoint("place");
  return errno != 77;
}

static int is_pending(int signal) {
  sigset_t pending;
  sigpending(&pending);
  return sigismember(&pending, signal);
}

/* Signals of the library's writes are gone; the program's own stay, blocked or not. */
static int keep_signals(void) {
  static const int signals[] = {SIGPIPE, SIGXFSZ};
  size_t i;
  for (i = 0; i < sizeof signals / sizeof signals[0]; i++) {
    sigset_t one, before, after;
    sigemptyset(&one);
    sigaddset(&one, signals[i]);
    pthread_sigmask(SIG_BLOCK, &one, &before);
    pmtracepoint("place");
    if (is_pending(signals[i])) return 1;
    raise(signals[i]);
    pmtracepoint("place");
    if (!is_pending(signals[i])) return 2;
    signal(signals[i], SIG_IGN); /* discards the pending one */
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    signal(signals[i], SIG_DFL);
    pmtracepoint("place");
    pthread_sigmask(SIG_SETMASK, NULL, &after);
    if (sigismember(&after, signals[i])) return 3;
  }
  return 0;
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    int (*act)(void);
  } acts[] = {{"point", point},
              {"describe", describe},
              {"print-calls", print_calls},
              {"print-nothing", print_nothing},
              {"refused", refused},
              {"become-nobody", become_nobody},
              {"leave-directory", leave_directory},
              {"wait", wait_for_line},
              {"fork", forked},
              {"many", many},
              {"no-growth", allow_no_growth},
              {"keep-errno", keep_errno},
              {"keep-signals", keep_signals}};
  int word;
  setvbuf(stdout, NULL, _IONBF, 0);
  for (word = 1; word < argc; word++) {
    size_t i;
    for (i = 0; i < sizeof acts / sizeof acts[0]; i++) {
      const int problem = strcmp(acts[i].name, argv[word]) == 0 ? acts[i].act() : 0;
      if (problem == 0) continue;
      printf("%s: problem %d\n", acts[i].name, problem);
      return 1;
    }
    printf("%s\n", argv[word]);
  }
  return 0;
}
