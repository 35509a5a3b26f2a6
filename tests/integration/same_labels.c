/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Four threads ask at once for the same four label sets, name by name. Prints the number of
 * failures: 0 if a name may have four sets.
 */
#include <pcp/trace.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { kThreads = 4, kSets = 4, kNames = 10000 };

static pthread_barrier_t barrier;
static atomic_int refused;

static void ask_for(const char* name, int set) {
  char value[16];
  pmtrace_label label = {"set", value};
  snprintf(value, sizeof value, "%d", set);
  if (strchr(pmtrace_tag_text(pmtrace_tag_with(name, &label, 1)), '{') == NULL) refused++;
}

static void* ask(void* unused) {
  int i;
  int set;
  for (i = 0; i < kNames; i++) {
    char name[16];
    snprintf(name, sizeof name, "name %d", i);
    pthread_barrier_wait(&barrier);
    for (set = 0; set < kSets; set++) ask_for(name, set);
  }
  return unused;
}

int main(void) {
  pthread_t threads[kThreads];
  int i;
  pthread_barrier_init(&barrier, NULL, kThreads);
  for (i = 0; i < kThreads; i++) pthread_create(&threads[i], NULL, ask, NULL);
  for (i = 0; i < kThreads; i++) pthread_join(threads[i], NULL);
  printf("%d\n", refused);
  return 0;
}
