/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Preloaded into a program, this makes the look-up of a host name slow: it lasts while the file
 * exists that the variable SLOW_LOOK_UP names, and writes a word there. Meanwhile it has a socket
 * open, like the C library's look-up.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <netdb.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

typedef int (*look_up)(const char*, const char*, const struct addrinfo*, struct addrinfo**);

int getaddrinfo(const char* restrict name, const char* restrict service,
                const struct addrinfo* restrict hints, struct addrinfo** restrict found) {
  const struct timespec pause = {0, 1000000};
  const char* file = getenv("SLOW_LOOK_UP");
  const int fd = socket(AF_INET, SOCK_DGRAM, 0);
  if (truncate(file, 1) == 0)
    while (access(file, F_OK) == 0) nanosleep(&pause, NULL); /* poll: the file's end */
  close(fd);
  return ((look_up)dlsym(RTLD_NEXT, "getaddrinfo"))(name, service, hints, found);
}
