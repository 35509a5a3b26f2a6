/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Begins, ends and prints traces: each line of standard input is one call, answered by a line with
 * its return value, or with the header.
 *
 *   from SLOT TAG [TRACEPARENT [TRACESTATE]]     begin SLOT TAG     under SLOT TAG SLOT
 *   end SLOT     attach SLOT     detach SLOT     copy SLOT SLOT     name TAG     named TAG
 *   parent SLOT     state SLOT     the headers; of the thread without a SLOT
 *   captured SLOT     note SLOT KEY VALUE     number SLOT KEY VALUE     link SLOT TRACEPARENT
 *   abort SLOT     fail SLOT REASON     point TAG     observe TAG VALUE     count     add
 *   describe TAG UNIT [TEXT]
 * storm COUNT TAG INNER     COUNT of TAG on each of two threads, with one of INNER in each
 * thread N        the thread that obeys the next lines, 0 or 1; tid: its id; quit: thread 1 ends
 * flush           leave, retire: once all is counted the process ends by _exit(), the thread by
 *                 pthread_exit()
 *   fork            the next lines are a child's
 *   setsid          flags FLAGS: pmtracestate
 * later SECONDS   steps the monotonic clock by SECONDS
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pcp/trace.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { kSlots = 16, kWords = 4 };
static pmtrace_tx slots[kSlots];
static char* words[kWords]; /* of the line; NULL after the last */
static char text[PMTRACE_CONTEXT_STATE_SIZE];

static pmtrace_tx* slot(int word) {
  return words[word] != NULL ? &slots[atoi(words[word]) % kSlots] : NULL;
}

static const char* storm_tags[2];
static int storm_count;

static void* storm(void* unused) {
  pmtrace_handle outer = pmtrace_tag(storm_tags[0]), inner = pmtrace_tag(storm_tags[1]);
  for (int i = 0; i < storm_count; ++i) {
    pmtrace_tx whole, part;
    pmtrace_begin(outer, &whole);
    pmtrace_begin(inner, &part);
    pmtrace_end(&part);
    pmtrace_end(&whole);
  }
  return unused;
}

static int storm_on_two_threads(void) {
  pthread_t thread;
  storm_count = atoi(words[0]);
  storm_tags[0] = words[1];
  storm_tags[1] = words[2];
  if (pthread_create(&thread, NULL, storm, NULL) != 0) return -1;
  storm(NULL);
  return pthread_join(thread, NULL);
}

static int later(double seconds) {
  void (*step)(double) = (void (*)(double))dlsym(RTLD_DEFAULT, "step_monotonic_clock");
  if (step == NULL) return -1;
  step(seconds);
  return 0;
}

static void wait_until_counted(void) {
  const struct timespec pause = {0, 100000}; /* spares a busy machine's CPU for the agent */
  pmtrace_stats_t now;
  for (;;) {
    pmtrace_stats(&now, sizeof now);
    if (now.acknowledged >= now.recorded) return;
    nanosleep(&pause, NULL); /* poll: until the agent has all records */
  }
}

static int fork_child(void) {
  const pid_t child = fork();
  if (child <= 0) return child;
  int status;
  waitpid(child, &status, 0);
  _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

static int call(const char* name) {
  if (strcmp(name, "from") == 0)
    return pmtrace_begin_from(pmtrace_tag(words[1]), slot(0), words[2], words[3]);
  if (strcmp(name, "begin") == 0) return pmtrace_begin(pmtrace_tag(words[1]), slot(0));
  if (strcmp(name, "under") == 0)
    return pmtrace_begin_under(pmtrace_tag(words[1]), slot(0), slot(2));
  if (strcmp(name, "end") == 0) return pmtrace_end(slot(0));
  if (strcmp(name, "attach") == 0) return pmtrace_attach(slot(0));
  if (strcmp(name, "detach") == 0) return pmtrace_detach(slot(0));
  if (strcmp(name, "name") == 0) return pmtracebegin(words[0]);
  if (strcmp(name, "named") == 0) return pmtraceend(words[0]);
  if (strcmp(name, "flags") == 0) return pmtracestate(atoi(words[0]));
  if (strcmp(name, "setsid") == 0) return setsid() == -1 ? -1 : 0;
  if (strcmp(name, "later") == 0) return later(atof(words[0]));
  if (strcmp(name, "abort") == 0) return pmtrace_abort(slot(0));
  if (strcmp(name, "fail") == 0) return pmtrace_fail(slot(0), words[1]);
  if (strcmp(name, "captured") == 0) return pmtrace_is_captured(slot(0));
  if (strcmp(name, "note") == 0) return pmtrace_note(slot(0), words[1], words[2]);
  if (strcmp(name, "number") == 0) return pmtrace_note_number(slot(0), words[1], atof(words[2]));
  if (strcmp(name, "link") == 0) return pmtrace_link(slot(0), words[1]);
  if (strcmp(name, "point") == 0) return pmtrace_point(pmtrace_tag(words[0]));
  if (strcmp(name, "observe") == 0) return pmtrace_observe(pmtrace_tag(words[0]), atof(words[1]));
  if (strcmp(name, "count") == 0) return pmtrace_count(pmtrace_tag(words[0]), atof(words[1]));
  if (strcmp(name, "add") == 0) return pmtrace_add(pmtrace_tag(words[0]), atof(words[1]));
  if (strcmp(name, "describe") == 0)
    return pmtrace_describe(pmtrace_tag(words[0]), words[1], words[2]);
  if (strcmp(name, "flush") == 0) return pmtrace_flush(60);
  if (strcmp(name, "leave") == 0) wait_until_counted(), _exit(0);
  if (strcmp(name, "retire") == 0) wait_until_counted(), pthread_exit(NULL);
  if (strcmp(name, "storm") == 0) return storm_on_two_threads();
  if (strcmp(name, "tid") == 0) return (int)syscall(SYS_gettid);
  if (strcmp(name, "quit") == 0) return 0;
  if (strcmp(name, "copy") == 0) {
    *slot(1) = *slot(0);
    return 0;
  }
  fprintf(stderr, "traces: no such call: %s\n", name);
  exit(2);
}

static void* obey(void* name) {
  memset(text, '-', sizeof text - 1);
  if (strcmp(name, "parent") == 0)
    pmtrace_context(slot(0), text, sizeof text);
  else if (strcmp(name, "state") == 0)
    pmtrace_context_state(slot(0), text, sizeof text);
  else
    snprintf(text, sizeof text, "%d", call(name));
  return NULL;
}

/* A thread that obeys lines in turn with the other, until it is to quit. */
static pthread_barrier_t turn;
static const char* given;
static void* work(void* unused) {
  for (int stays = 1; stays;) {
    pthread_barrier_wait(&turn);
    stays = strcmp(given, "quit") != 0;
    obey((void*)given);
    pthread_barrier_wait(&turn);
  }
  return unused;
}

static void obey_on_other_thread(char* name) {
  static int is_there;
  static pthread_t thread;
  if (!is_there) {
    pthread_barrier_init(&turn, NULL, 2);
    if (pthread_create(&thread, NULL, work, NULL) != 0) exit(1);
  }
  given = name;
  pthread_barrier_wait(&turn);
  pthread_barrier_wait(&turn);
  is_there = strcmp(name, "quit") != 0;
  if (!is_there) pthread_join(thread, NULL);
}

int main(void) {
  static char line[32768];
  int thread = 0;
  while (fgets(line, sizeof line, stdin) != NULL) {
    line[strcspn(line, "\n")] = '\0';
    char* rest = line;
    char* name = strsep(&rest, " ");
    for (int i = 0; i < kWords; ++i) words[i] = strsep(&rest, " ");
    if (strcmp(name, "fork") == 0) {
      snprintf(text, sizeof text, "%d", fork_child());
    } else if (strcmp(name, "thread") == 0) {
      thread = atoi(words[0]);
      strcpy(text, "0");
    } else if (thread == 1) {
      obey_on_other_thread(name);
    } else {
      obey(name);
    }
    puts(text);
    fflush(stdout);
  }
  return 0;
}
