/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Forks while the library looks up the agent's host, and then lets the look-up end
 * (slow_resolver.c). Prints the number of the child's descriptors, without the first three and the
 * directory's.
 */
#include <dirent.h>
#include <pcp/trace.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int count_descriptors(void) {
  DIR* directory = opendir("/proc/self/fd");
  int count = -6; /* ".", ".." and the directory's own, and the first three */
  while (readdir(directory) != NULL) count++;
  closedir(directory);
  return count;
}

int main(void) {
  const char* file = getenv("SLOW_LOOK_UP");
  const struct timespec pause = {0, 1000000};
  struct stat is_begun;
  pid_t child;
  pmtracestate(PMTRACE_STATE_ASYNC);
  pmtrace_point(pmtrace_tag("meanwhile"));
  while (stat(file, &is_begun) == 0 && is_begun.st_size == 0)
    nanosleep(&pause, NULL); /* poll: the look-up */
  child = fork();
  if (child == 0) {
    printf("%d\n", count_descriptors());
    fflush(stdout);
    _exit(0);
  }
  waitpid(child, NULL, 0);
  unlink(file);
  return pmtrace_flush(60) == 1 ? 0 : 1;
}
