/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Preloaded into a program, this lets each call that makes a file descriptor fail, as on a machine
 * without free ones, while the file exists that the variable NO_DESCRIPTORS names. Each failed call
 * adds a byte to the file.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

static int there_are_none(void) {
  const char* file = getenv("NO_DESCRIPTORS");
  const int before = errno;
  const int fd = file != NULL ? open(file, O_WRONLY | O_APPEND | O_CLOEXEC) : -1;
  const int none = fd >= 0 && write(fd, "-", 1) == 1;
  if (fd >= 0) close(fd);
  errno = none ? ENFILE : before;
  return none;
}

int socket(int domain, int type, int protocol) {
  int (*next)(int, int, int) = (int (*)(int, int, int))dlsym(RTLD_NEXT, "socket");
  return there_are_none() ? -1 : next(domain, type, protocol);
}

int socketpair(int domain, int type, int protocol, int ends[2]) {
  int (*next)(int, int, int, int*) = (int (*)(int, int, int, int[2]))dlsym(RTLD_NEXT, "socketpair");
  return there_are_none() ? -1 : next(domain, type, protocol, ends);
}

int accept4(int fd, struct sockaddr* restrict address, socklen_t* restrict length, int flags) {
  int (*next)(int, struct sockaddr*, socklen_t*, int) =
      (int (*)(int, struct sockaddr*, socklen_t*, int))dlsym(RTLD_NEXT, "accept4");
  return there_are_none() ? -1 : next(fd, address, length, flags);
}

int accept(int fd, struct sockaddr* restrict address, socklen_t* restrict length) {
  return accept4(fd, address, length, 0);
}

int eventfd(unsigned count, int flags) {
  int (*next)(unsigned, int) = (int (*)(unsigned, int))dlsym(RTLD_NEXT, "eventfd");
  return there_are_none() ? -1 : next(count, flags);
}

int epoll_create1(int flags) {
  int (*next)(int) = (int (*)(int))dlsym(RTLD_NEXT, "epoll_create1");
  return there_are_none() ? -1 : next(flags);
}
