/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A program that lives for two seconds in a sandbox that forbids to wait by poll(), or to receive,
 * or allows no descriptors after the first call, as its argument says. Makes a call at once, and
 * one when the library's thread sleeps. Prints how often the library has begun to wait.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pcp/trace.h>
#include <poll.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef SYS_poll
enum { OLD_POLL = SYS_poll };
#else /* newer machines have only the other one */
enum { OLD_POLL = SYS_ppoll };
#endif

static atomic_long waits;

/* Replaces the C library's function in the whole process. */
int poll(struct pollfd* all, nfds_t count, int timeout) {
  int (*next)(struct pollfd*, nfds_t, int);
  *(void**)&next = dlsym(RTLD_NEXT, "poll");
  waits++;
  return next(all, count, timeout);
}

int main(int argc, char** argv) {
  const int is_poll = argc > 1 && strcmp(argv[1], "poll") == 0;
  const unsigned other = argc > 1 && strcmp(argv[1], "pass") == 0 ? SYS_sendmsg : SYS_recvfrom;
  struct sock_filter rules[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, is_poll ? OLD_POLL : other, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, is_poll ? SYS_ppoll : other, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 1 /* EPERM */),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const struct sock_fprog filter = {sizeof rules / sizeof *rules, rules};
  struct rlimit before;
  getrlimit(RLIMIT_NOFILE, &before);
  const struct rlimit none = {0, before.rlim_max};
  const int is_limit = argc > 1 && strcmp(argv[1], "descriptors") == 0;
  if (!is_limit && (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
                    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0))
    return 2;
  pmtracepoint("in a sandbox");
  if (is_limit) setrlimit(RLIMIT_NOFILE, &none);
  sleep(1); /* load: the library's thread is to wait meanwhile */
  pmtracepoint("in a sandbox");
  sleep(1); /* load: the same */
  printf("%ld\n", waits);
  /* A measurement of coverage opens files at the end. */
  if (is_limit && (pmtrace_flush(60) != 1 || setrlimit(RLIMIT_NOFILE, &before) != 0)) return 3;
  return 0;
}
