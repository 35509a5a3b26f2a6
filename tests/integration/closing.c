/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Closes unknown descriptors, the library's, in the way that the first argument names. Traces
 * before and after. The exit status is 0 if all went well, and the library did not touch the
 * program's files in the places of its descriptors.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <pcp/trace.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { PATIENCE_S = 60, MOST = 64 };

static int is_delivered(void) { return pmtrace_flush(PATIENCE_S) == 1; }

static void pause_ms(long time) {
  const struct timespec pause = {time / 1000, time % 1000 * 1000000};
  nanosleep(&pause, NULL); /* load: of the program, while the library works or sleeps */
}

/* Gives the descriptors beyond the first three: they all belong to the library. */
static int find_unknown(int* found) {
  DIR* directory = opendir("/proc/self/fd");
  struct dirent* entry;
  int count = 0;
  while (count < MOST && (entry = readdir(directory)) != NULL) {
    const int fd = atoi(entry->d_name);
    if (fd > 2 && fd != dirfd(directory)) found[count++] = fd;
  }
  closedir(directory);
  return count;
}

static int all_at_once(void) {
  close_range(3, ~0U, 0);
  pmtracepoint("after");
  return is_delivered() ? 0 : 10;
}

/* The flusher has been asleep for long. */
static int while_it_sleeps(void) {
  pause_ms(1000);
  return all_at_once();
}

static int one_after_the_other(void) {
  int fds[MOST], i;
  const int count = find_unknown(fds);
  if (count < 3) return 11;
  for (i = 0; i < count; i++) {
    close(fds[i]);
    pmtracepoint("after");
    if (!is_delivered()) return 12;
  }
  return 0;
}

/* Closes just before the end, so that only exit() delivers. */
static int before_exit(void) {
  pmtracepoint("after");
  close_range(3, ~0U, 0);
  return 0;
}

static int again_and_again(void) {
  struct timespec now, end;
  clock_gettime(CLOCK_MONOTONIC, &end);
  end.tv_sec += 2;
  do {
    close_range(3, ~0U, 0);
    pmtracepoint("after");
    clock_gettime(CLOCK_MONOTONIC, &now);
  } while (now.tv_sec < end.tv_sec || (now.tv_sec == end.tv_sec && now.tv_nsec < end.tv_nsec));
  return is_delivered() ? 0 : 13;
}

/* Closes nothing. The library's thread must still rest afterwards. */
static int shut_down(void) {
  struct timespec before, after;
  int fds[MOST], i;
  const int count = find_unknown(fds);
  for (i = 0; i < count; i++) shutdown(fds[i], SHUT_RDWR);
  pmtracepoint("after");
  if (!is_delivered()) return 17;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
  pause_ms(1000);
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
  return (after.tv_sec - before.tv_sec) * 1000 + (after.tv_nsec - before.tv_nsec) / 1000000 < 200
             ? 0
             : 18;
}

/* Replaces each descriptor by the program's own, and checks these afterwards. */
static int taken_by(int (*make)(int* own_end), int (*is_untouched)(int fd, int own_end)) {
  int fds[MOST], own_ends[MOST], i;
  const int count = find_unknown(fds);
  for (i = 0; i < count; i++) {
    const int fd = make(&own_ends[i]);
    if (fd < 0 || dup2(fd, fds[i]) != fds[i]) return 14;
    close(fd);
  }
  for (i = 0; i < 100; i++) {
    pmtracepoint("after");
    if (i % 10 == 0) pause_ms(20);
  }
  if (!is_delivered()) return 15;
  for (i = 0; i < count; i++)
    if (!is_untouched(fds[i], own_ends[i])) return 16;
  return 0;
}

static int make_file(int* own_end) {
  *own_end = -1;
  return open("/tmp", O_TMPFILE | O_RDWR, 0600);
}

static int is_empty_file(int fd, int own_end) {
  struct stat file;
  (void)own_end;
  return fstat(fd, &file) == 0 && S_ISREG(file.st_mode) && file.st_size == 0;
}

/* Makes a socket with a word in it that only the program may read. */
static int make_socket(int* own_end) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) != 0) return -1;
  *own_end = ends[0];
  return send(ends[0], "word", 4, 0) == 4 ? ends[1] : -1;
}

static int is_quiet_socket(int fd, int own_end) {
  char bytes[16];
  return recv(own_end, bytes, sizeof bytes, 0) < 0 && recv(fd, bytes, sizeof bytes, 0) == 4;
}

static int taken_by_files(void) { return taken_by(make_file, is_empty_file); }
static int taken_by_sockets(void) { return taken_by(make_socket, is_quiet_socket); }

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    int (*run)(void);
  } ways[] = {
      {"all-at-once", all_at_once},
      {"while-it-sleeps", while_it_sleeps},
      {"one-after-the-other", one_after_the_other},
      {"before-exit", before_exit},
      {"again-and-again", again_and_again},
      {"shut-down", shut_down},
      {"taken-by-files", taken_by_files},
      {"taken-by-sockets", taken_by_sockets},
  };
  size_t i;
  int status = 97;
  pmtrace_stats_t stats;
  pmtracepoint("before");
  if (!is_delivered()) return 96;
  for (i = 0; argc > 1 && i < sizeof ways / sizeof *ways; i++)
    if (strcmp(argv[1], ways[i].name) == 0) status = ways[i].run();
  /* The expected count. */
  pmtrace_stats(&stats, sizeof stats);
  printf("%llu\n", (unsigned long long)stats.recorded);
  return status;
}
