/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The destructors trace before the library's last delivery. With an argument the program has used
 * up its descriptors by then: the library throws, and catches, during the delivery. */
#include <fcntl.h>
#include <pcp/trace.h>
#include <stdio.h>
#include <sys/resource.h>

__attribute__((destructor)) static void end(void) { pmtracepoint("destructor"); }
__attribute__((destructor(102))) static void end_late(void) { pmtracepoint("late destructor"); }

int main(int argc, char** argv) {
  (void)argv;
  if (argc > 1) {
    const struct rlimit few = {20, 20};
    setrlimit(RLIMIT_NOFILE, &few);
    while (open("/dev/null", O_RDONLY) >= 0) continue;
    printf("buffered");
  }
  pmtracepoint("main");
  return 0;
}
