/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Traces a point once, and twice in a forked child. Both print their ids and live until the end of
 * the input. An argument is the name of their MMV files.
 */
#include <pcp/trace.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char** argv) {
  char any;
  pid_t child;
  int count = 1;
  if (argc > 1 && pmtrace_mmv(argv[1]) != 0) return 2;
  pmtracepoint("a");
  child = fork();
  if (child == 0) count = 2;
  if (child == 0) pmtracepoint("a");
  if (child == 0) pmtracepoint("a");
  dprintf(1, "%d %d\n", (int)getpid(), count);
  while (read(0, &any, 1) > 0) continue;
  return child > 0 && waitpid(child, NULL, 0) != child;
}
