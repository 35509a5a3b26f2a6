/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Preloaded into a program, this makes its machine worse, in the ways that variables name:
 *
 *   NO_THREADS=FILE       pthread_create fails while the file exists, as for a user without free
 *                         threads
 *   NO_DESCRIPTORS=FILE   each call that makes a descriptor fails while the file exists, as without
 *                         free ones, and adds a byte to the file
 *   SLOW_LOOK_UP=FILE     the look-up of a host's name lasts while the file exists, and writes a
 *                         word there. Meanwhile it has a socket open, like the C library's look-up
 *   HANGING_FSYNC=FOLDER  fsync() hangs like a dead disk while the folder has a file "hang". It
 *                         makes a file "hanging" there
 *   NO_COUNTER=1          nothing says that the kernel keeps time by the processor's time-stamp
 *                         counter
 *   SHORT_SLEEPS=1        each sleep lasts a hundredth: a wait that counts sleeps ends soon
 *   LATE_NAME=1           a process gets its name late: it has little of the processor
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netdb.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* The function that the program would call without this library. */
#define NEXT(function) ((__typeof__(&(function)))dlsym(RTLD_NEXT, #function))

static int pause_a_little(void) { return usleep(1000); /* poll: the end of a file */ }

int pthread_create(pthread_t* restrict thread, const pthread_attr_t* restrict attributes,
                   void* (*run)(void*), void* restrict argument) {
  const char* file = getenv("NO_THREADS");
  if (file != NULL && access(file, F_OK) == 0) return errno = EAGAIN; /* as clone() */
  return NEXT(pthread_create)(thread, attributes, run, argument);
}

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
  return there_are_none() ? -1 : NEXT(socket)(domain, type, protocol);
}

int socketpair(int domain, int type, int protocol, int ends[2]) {
  return there_are_none() ? -1 : NEXT(socketpair)(domain, type, protocol, ends);
}

int accept4(int fd, struct sockaddr* restrict address, socklen_t* restrict length, int flags) {
  return there_are_none() ? -1 : NEXT(accept4)(fd, address, length, flags);
}

int accept(int fd, struct sockaddr* restrict address, socklen_t* restrict length) {
  return accept4(fd, address, length, 0);
}

int getaddrinfo(const char* restrict name, const char* restrict service,
                const struct addrinfo* restrict hints, struct addrinfo** restrict found) {
  const char* file = getenv("SLOW_LOOK_UP");
  if (file != NULL) {
    const int fd = socket(AF_INET, SOCK_DGRAM, 0);
    if (truncate(file, 1) == 0)
      while (access(file, F_OK) == 0) pause_a_little();
    close(fd);
  }
  return NEXT(getaddrinfo)(name, service, hints, found);
}

int fsync(int fd) {
  const char* folder = getenv("HANGING_FSYNC");
  if (folder != NULL) {
    char hang[PATH_MAX];
    char hanging[PATH_MAX];
    snprintf(hang, sizeof hang, "%s/hang", folder);
    snprintf(hanging, sizeof hanging, "%s/hanging", folder);
    if (access(hang, F_OK) == 0) close(open(hanging, O_WRONLY | O_CREAT, 0644));
    while (access(hang, F_OK) == 0) pause_a_little();
  }
  return NEXT(fsync)(fd);
}

int open(const char* path, int flags, ...) {
  va_list rest;
  mode_t mode;
  va_start(rest, flags);
  mode = va_arg(rest, mode_t);
  va_end(rest);
  if (getenv("NO_COUNTER") != NULL && strstr(path, "current_clocksource") != NULL)
    path = "/dev/null";
  return NEXT(open)(path, flags, mode);
}

/* stepped: scales the program's time, if that is wanted */
int nanosleep(const struct timespec* time, struct timespec* left) {
  const long long whole_ns = time->tv_sec * 1000000000LL + time->tv_nsec;
  const long long ns = getenv("SHORT_SLEEPS") != NULL ? whole_ns / 100 : whole_ns;
  const struct timespec shorter = {ns / 1000000000, ns % 1000000000};
  return NEXT(nanosleep)(&shorter, left); /* stepped: a hundredth */
}

int prctl(int option, ...) {
  unsigned long more[4];
  va_list arguments;
  int i;
  va_start(arguments, option);
  for (i = 0; i < 4; i++) more[i] = va_arg(arguments, unsigned long);
  va_end(arguments);
  if (option == PR_SET_NAME && getenv("LATE_NAME") != NULL)
    usleep(200000); /* load: a busy machine */
  return (int)syscall(SYS_prctl, option, more[0], more[1], more[2], more[3]);
}
