/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Begins and ends transactions by handle: each line of standard input is one call, answered by a
 * line with its return value.
 *
 *   begin SLOT TAG, end SLOT, abort SLOT, copy SLOT SLOT
 *   elsewhere SLOT   ends the transaction on another thread
 *   thread SLOT TAG  begins it on its own thread, which lives on; answers with its tid
 *   gone SLOT TAG    the same on a thread that ends
 *   soon SLOT TAG    the same on a thread that ends with the line "now"
 *   many COUNT TAG   begins COUNT transactions; few: ends them all
 *   fork SLOT        a child ends the parent's transaction and begins one of its own, "child",
 *                    until it is killed with the parent; answers with its pid
 *   name TAG         begins by name; named TAG: ends by name
 *   state FLAGS      pmtracestate
 */
#include <pcp/trace.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { kSlots = 16 };
enum { kEnds, kSoon, kForEver };
static pmtrace_tx slots[kSlots];
static pmtrace_tx* crowd;
static int crowded;
static sem_t is_to_end;

struct task {
  int slot;
  const char* tag; /* NULL: end */
  int returned;
  int stays;
  pthread_barrier_t done;
};

static void* work(void* given) {
  struct task* task = given;
  int stays = task->stays;
  task->returned = task->tag != NULL ? pmtrace_begin(pmtrace_tag(task->tag), &slots[task->slot])
                                     : pmtrace_end(&slots[task->slot]);
  if (task->returned == 0 && task->tag != NULL) task->returned = (int)syscall(SYS_gettid);
  if (stays) pthread_barrier_wait(&task->done);
  while (stays == kForEver) pause();
  if (stays) sem_wait(&is_to_end);
  return NULL;
}

static int on_thread(int slot, const char* tag, int stays) {
  struct task task = {slot, tag, 0, stays, {{0}}};
  pthread_t thread;
  pthread_barrier_init(&task.done, NULL, 2);
  if (pthread_create(&thread, NULL, work, &task) != 0) return -1;
  if (stays)
    pthread_barrier_wait(&task.done);
  else
    pthread_join(thread, NULL);
  return task.returned;
}

static int fork_child(int slot) {
  int ready[2];
  char any;
  if (pipe(ready) != 0) return -1;
  pid_t child = fork();
  if (child == 0) {
    static pmtrace_tx own;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    pmtrace_end(&slots[slot]);
    pmtrace_begin(pmtrace_tag("child"), &own);
    if (write(ready[1], "", 1) != 1) _exit(1);
    for (;;) pause();
  }
  if (read(ready[0], &any, 1) != 1) return -1;
  return (int)child;
}

static int begin_many(int count, const char* tag) {
  crowd = calloc((size_t)count, sizeof *crowd);
  crowded = count;
  for (int i = 0; i < count; ++i) pmtrace_begin(pmtrace_tag(tag), &crowd[i]);
  return count;
}

static int end_many(void) {
  for (int i = 0; i < crowded; ++i) pmtrace_end(&crowd[i]);
  return 0;
}

static int obey(const char* name, char* rest) {
  if (strcmp(name, "name") == 0) return pmtracebegin(rest);
  if (strcmp(name, "named") == 0) return pmtraceend(rest);
  if (strcmp(name, "few") == 0) return end_many();
  if (strcmp(name, "now") == 0) return sem_post(&is_to_end);
  const int number = (int)strtol(rest, &rest, 10);
  rest += *rest == ' ';
  if (strcmp(name, "state") == 0) return pmtracestate(number);
  if (strcmp(name, "many") == 0) return begin_many(number, rest);
  if (number < 0 || number >= kSlots) exit(2);
  if (strcmp(name, "begin") == 0) return pmtrace_begin(pmtrace_tag(rest), &slots[number]);
  if (strcmp(name, "end") == 0) return pmtrace_end(&slots[number]);
  if (strcmp(name, "abort") == 0) return pmtrace_abort(&slots[number]);
  if (strcmp(name, "elsewhere") == 0) return on_thread(number, NULL, kEnds);
  if (strcmp(name, "thread") == 0) return on_thread(number, rest, kForEver);
  if (strcmp(name, "gone") == 0) return on_thread(number, rest, kEnds);
  if (strcmp(name, "soon") == 0) return on_thread(number, rest, kSoon);
  if (strcmp(name, "fork") == 0) return fork_child(number);
  if (strcmp(name, "copy") == 0) {
    slots[atoi(rest) % kSlots] = slots[number];
    return 0;
  }
  fprintf(stderr, "in_flight: no such call: %s\n", name);
  exit(2);
}

int main(void) {
  static char line[4096];
  while (fgets(line, sizeof line, stdin) != NULL) {
    char* rest;
    line[strcspn(line, "\n")] = '\0';
    rest = line + strcspn(line, " ");
    if (*rest != '\0') *rest++ = '\0';
    printf("%d\n", obey(line, rest));
    fflush(stdout);
  }
  return 0;
}
