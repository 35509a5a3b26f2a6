/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Unusual moments in the life of a process, one for each word on the command line: traces then,
 * checks what it can see itself, and ends with status 0 if all is well.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pcp/trace.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

static const char* moment = "";
static char* own_path;

static int status_of(pid_t child) {
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 99;
}

/* With an agent a flush delivers all, without one nothing. */
static int flushes_rightly(void) {
  const int has_agent = getenv("LIFECYCLE_NO_AGENT") == NULL;
  return pmtrace_flush(has_agent ? 60 : 0.1) == has_agent;
}

/* The number of open descriptors, except the directory's own. */
static int count_descriptors(void) {
  DIR* directory = opendir("/proc/self/fd");
  int count = -3; /* ".", ".." and the directory's own */
  if (directory == NULL) return -1;
  while (readdir(directory) != NULL) count++;
  closedir(directory);
  return count;
}

static int exec_self(const char* word, int descriptors) {
  char number[16];
  snprintf(number, sizeof number, "%d", descriptors);
  execl(own_path, own_path, word, number, (char*)NULL);
  return 98;
}

/* Before and after main. --------------------------------------------------------------------
 */

__attribute__((constructor)) static void construct(void) {
  if (getenv("LIFECYCLE_CONSTRUCTOR") != NULL) pmtracepoint("constructor");
}

__attribute__((destructor)) static void destruct(void) {
  if (strcmp(moment, "destructor") == 0) pmtracepoint("destructor");
}

static int nothing(void) { return 0; }

/* Other processes. --------------------------------------------------------------------------
 */

static int forked(void) {
  const int before = count_descriptors();
  pid_t child;
  pmtracepoint("parent");
  child = fork();
  if (child == 0) {
    const int left = count_descriptors();
    pmtracepoint("child");
    if (left != before) fprintf(stderr, "%d descriptors, not %d\n", left, before);
    exit(left == before ? 0 : 1);
  }
  return status_of(child);
}

/* A child that never traces has none of the library's descriptors, and the grandchild traces for
 * itself. */
static int forked_twice(void) {
  const int before = count_descriptors();
  pid_t child;
  pmtracepoint("parent");
  child = fork();
  if (child == 0) {
    const pid_t grandchild = fork();
    if (grandchild == 0) {
      pmtracepoint("grandchild");
      exit(0);
    }
    _exit(status_of(grandchild) == 0 && count_descriptors() == before ? 0 : 1);
  }
  return status_of(child);
}

static int vforked(void) {
  pid_t child;
  pmtracepoint("parent");
  child = vfork();
  if (child == 0) {
    pmtracepoint("child");
    _exit(0);
  }
  return status_of(child);
}

/* Like pre-fork servers and Python's multiprocessing: children that trace and leave by _exit. */
static int pre_forked(void) {
  int children = 0;
  int failed = 0;
  pmtracepoint("parent");
  for (; children < 20; children++) {
    if (fork() == 0) {
      int i;
      for (i = 0; i < 7; i++) pmtracepoint("child");
      if (children % 3 == 0) quick_exit(0);
      if (children % 3 == 1) _Exit(0);
      _exit(0);
    }
  }
  for (; children > 0; children--) failed += status_of(-1);
  return failed;
}

/* The parent ends inside daemon(). */
static int daemonized(void) {
  char directory[8];
  pmtracepoint("parent");
  if (daemon(0, 1) != 0) return 97;
  pmtracepoint("child");
  if (getcwd(directory, sizeof directory) == NULL || strcmp(directory, "/") != 0) return 96;
  if (getsid(0) != getpid() || fputs("still there\n", stdout) < 0) return 95;
  fflush(stdout);
  close(STDIN_FILENO);
  if (daemon(1, 0) != 0) return 94;
  if (fork() == 0)
    _exit(fcntl(STDIN_FILENO, F_GETFD) < 0); /* stdin is free for the program, not
                                                the library */
  if (status_of(-1) != 0) return 92;
  pmtracepoint("grandchild");
  return fputs("nobody reads this\n", stdout) < 0 ? 93 : 0;
}

/* Children end during a flush that no thread waits for any more. */
static int impatient(void) {
  int children = 0;
  int failed = 0;
  for (; children < 100; children++) {
    if (fork() == 0) {
      pmtracepoint("impatient");
      pmtrace_flush(0);
      usleep(5 * (useconds_t)children); /* load: each leaves at another moment */
      pmtracepoint("impatient");
      exit(0);
    }
    failed += status_of(-1);
  }
  return failed;
}

static void trace_at_quick_exit(void) { pmtracepoint("handler"); }

/* Handlers run in reverse order: this one must still run before the library's. */
static int left_quickly(void) {
  at_quick_exit(trace_at_quick_exit);
  pmtracepoint("main");
  quick_exit(0);
}

static int left_without_a_word(void) {
  const int has_agent = getenv("LIFECYCLE_NO_AGENT") == NULL;
  pmtrace_stats_t stats;
  int status;
  pmtracepoint("parent");
  if (vfork() == 0) _exit(0);
  if (fork() == 0) _exit(0);
  status = status_of(-1) + status_of(-1);
  pmtracepoint("parent");
  if (has_agent && pmtrace_flush(60) != 1) return 97;
  pmtrace_stats(&stats, sizeof stats);
  return stats.reconnects == 0 ? status : 96;
}

static volatile sig_atomic_t observed;

static void leave(int signal) {
  char text[32];
  const int length = snprintf(text, sizeof text, "%ld\n", (long)observed);
  const int status = write(STDOUT_FILENO, text, (size_t)length) == length ? 0 : 1;
  (void)signal;
  if (strcmp(moment, "interrupted-quickly") == 0) quick_exit(status);
  _exit(status);
}

/* A signal, most probably during a call, whose handler ends the process. */
static int interrupted(void) {
  const pmtrace_handle tag = pmtrace_tag("interrupted");
  struct itimerval soon = {{0, 0}, {0, 300000}};
  signal(SIGALRM, leave);
  setitimer(ITIMER_REAL, &soon, NULL);
  for (;;) {
    pmtrace_observe(tag, 1);
    observed++;
  }
  return 98;
}

/* A signal stops threads for ever, most of them during a call. */
static atomic_ulong observed_by_stuck;
static atomic_int busy_count; /* threads past their first calls */
static atomic_int stuck_count;
static __thread unsigned long observed_here;

static void stop_here(int signal) {
  (void)signal;
  observed_by_stuck += observed_here;
  stuck_count++;
  for (;;) pause();
}

static void* observe_until_stopped(void* tag) {
  for (;;) {
    pmtrace_observe(*(pmtrace_handle*)tag, 1);
    if (++observed_here == 100000) busy_count++;
  }
  return NULL;
}

static int stuck(void) {
  enum { THREADS = 8 };
  pmtrace_handle tag = pmtrace_tag("stuck");
  pthread_t threads[THREADS];
  int i;
  signal(SIGUSR1, stop_here);
  for (i = 0; i < THREADS; i++)
    if (pthread_create(&threads[i], NULL, observe_until_stopped, &tag) != 0) return 97;
  while (busy_count < THREADS) usleep(1000); /* poll: the threads' calls */
  for (i = 0; i < THREADS; i++) pthread_kill(threads[i], SIGUSR1);
  while (stuck_count < THREADS) usleep(1000); /* poll: the signals */
  pmtracepoint("main");
  printf("%lu %d\n", (unsigned long)observed_by_stuck, THREADS);
  exit(0);
}

static int spawned(void) {
  char number[16];
  char word[] = "begun-anew";
  char* arguments[] = {own_path, word, number, NULL};
  pid_t child;
  snprintf(number, sizeof number, "%d", count_descriptors());
  pmtracepoint("parent");
  if (posix_spawn(&child, own_path, NULL, NULL, arguments, environ) != 0) return 97;
  return status_of(child);
}

/* exec gives the library no last chance to deliver, so this flushes first. */
static int execed(void) {
  const int before = count_descriptors();
  pmtracepoint("parent");
  pmtrace_flush(getenv("LIFECYCLE_NO_AGENT") != NULL ? 0 : 60);
  return exec_self("begun-anew", before);
}

/* The executed program: it must find `expected` open descriptors. */
static int begun_anew(int expected) {
  const int found = count_descriptors();
  pmtracepoint("begun anew");
  if (found != expected) fprintf(stderr, "%d descriptors, not %d\n", found, expected);
  return found == expected ? 0 : 1;
}

/* A look-up of the agent's host, which bad_machine.c makes slow, lasts until the child has looked.
 */
static int forked_during_look_up(void) {
  const int before = count_descriptors();
  const char* file = getenv("SLOW_LOOK_UP");
  struct stat look_up;
  pid_t child;
  int status;
  pmtrace_point(pmtrace_tag("meanwhile"));
  while (stat(file, &look_up) == 0 && look_up.st_size == 0) usleep(1000); /* poll: the look-up */
  child = fork();
  if (child == 0) _exit(count_descriptors() == before ? 0 : 1);
  status = status_of(child);
  unlink(file);
  return pmtrace_flush(60) == 1 ? status : 97;
}

/* A program's own handlers of fork, which are older than the library's, flush and fork. */
static int handled;

static void handle_fork(void) {
  static int is_inside;
  if (is_inside++ == 0) {
    pmtracepoint("handler");
    handled += flushes_rightly();
    if (fork() == 0) _exit(0);
    wait(NULL);
  }
  is_inside--;
}

static int forks_in_handlers(void) {
  pthread_atfork(handle_fork, handle_fork, NULL);
  pmtracepoint("parent");
  if (fork() == 0) _exit(0);
  wait(NULL);
  pmtracepoint("parent");
  return flushes_rightly() && handled == 2 ? 0 : 97;
}

static void* fork_on(void* unused) {
  for (;;) {
    const pid_t child = fork();
    if (child == 0) syscall(SYS_exit_group, 0);
    waitpid(child, NULL, 0);
  }
  return unused;
}

/* Ends while threads fork, ten times. */
static int ended_among_forks(void) {
  int status = 0;
  int i;
  for (i = 0; i < 10; i++) {
    const pid_t child = fork();
    if (child == 0) {
      pthread_t thread;
      pmtracepoint("child");
      for (i = 0; i < 4; i++) pthread_create(&thread, NULL, fork_on, NULL);
      usleep(50000); /* load: they fork */
      pmtracepoint("child");
      exit(0);
    }
    status |= status_of(child);
  }
  return status;
}

/* Threads. ----------------------------------------------------------------------------------
 */

/* By handle: such calls do not wait for a connection. */
static void call_ten_times(void) {
  const pmtrace_handle tag = pmtrace_tag("threadless");
  int i;
  for (i = 0; i < 10; i++) pmtrace_point(tag);
}

static int threadless(void) {
  call_ten_times();
  return 0;
}

static int threadless_flush(void) {
  call_ten_times();
  return flushes_rightly() ? 0 : 97;
}

/* A call keeps errno, and signals interrupt the waits. */
static void on_alarm(int unused) { (void)unused; }

static int threadless_alarms(void) {
  const struct itimerval often = {{0, 300}, {0, 300}};
  struct sigaction handler;
  int i;
  memset(&handler, 0, sizeof handler);
  handler.sa_handler = on_alarm;
  handler.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &handler, NULL);
  for (i = 0; i < 3; i++) {
    usleep(120000); /* load: then a call tries again to make the library's thread */
    errno = 77;
    pmtrace_point(pmtrace_tag("threadless"));
    if (errno != 77) return 96;
  }
  setitimer(ITIMER_REAL, &often, NULL);
  for (i = 0; i < 7; i++) {
    pmtrace_point(pmtrace_tag("threadless"));
    if (pmtrace_flush(60) != 1) return 97;
  }
  return 0;
}

/* Once threads are possible again, a later call makes the library's thread. */
static int threadless_at_first(void) {
  pmtrace_stats_t stats;
  call_ten_times();
  if (unlink(getenv("NO_THREADS")) != 0) return 97;
  do {
    usleep(20000); /* poll: the acknowledgements */
    call_ten_times();
    pmtrace_stats(&stats, sizeof stats);
  } while (stats.acknowledged < 10);
  printf("%lu\n", (unsigned long)stats.recorded);
  return 0;
}

static void* work_on(void* unused) {
  int i;
  for (i = 0; i < 10; i++) {
    pmtracepoint("worker");
    usleep(20000); /* load: its work, after main has left */
  }
  return unused;
}

static void trace_at_exit(void) { pmtracepoint("atexit"); }

/* The process ends with its last thread; the library's own thread does not count. */
static int main_left(void) {
  pthread_t thread;
  atexit(trace_at_exit);
  pmtracepoint("main");
  if (pthread_create(&thread, NULL, work_on, NULL) != 0) return 97;
  pthread_detach(thread);
  pthread_exit(NULL);
}

/* Without other threads, and with a main that never traced. */
static int main_left_alone(void) {
  pmtracepoint("main");
  pthread_exit(NULL);
}
static int main_left_untraced(void) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, work_on, NULL) != 0) return 97;
  pthread_detach(thread);
  pthread_exit(NULL);
}

/* The child's main thread is the one that forked. */
static void* fork_and_leave(void* status) {
  pmtracepoint("parent");
  if (fork() == 0) {
    pmtracepoint("child");
    pthread_exit(NULL);
  }
  *(int*)status = status_of(-1);
  return NULL;
}
static int main_left_in_child(void) {
  pthread_t thread;
  int status = 98;
  if (pthread_create(&thread, NULL, fork_and_leave, &status) != 0) return 97;
  pthread_join(thread, NULL);
  return status;
}

/* In memory that parent and child share. */
struct calls {
  atomic_ulong begun, done, done_at_end;
};
static struct calls* calls;

static void* call_without_end(void* unused) {
  for (;;) {
    calls->begun++;
    pmtracepoint("detached");
    calls->done++;
  }
  return unused;
}

/* Prints the lower and upper bound of the agent's count. */
static int detached_threads(void) {
  pid_t child;
  int status;
  calls = mmap(NULL, sizeof *calls, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (calls == MAP_FAILED) return 97;
  child = fork();
  if (child == 0) {
    pthread_t thread;
    int i;
    for (i = 0; i < 4; i++) {
      if (pthread_create(&thread, NULL, call_without_end, NULL) != 0) _exit(96);
      pthread_detach(thread);
    }
    while (calls->done < 10000) usleep(1000); /* poll: the threads' calls */
    calls->done_at_end = calls->done;
    exit(0);
  }
  status = status_of(child);
  printf("%lu %lu\n", (unsigned long)calls->done_at_end, (unsigned long)calls->begun);
  return status;
}

/* The rest. --------------------------------------------------------------------------------- */

static int dlopened(void) {
  int round;
  for (round = 0; round < 3; round++) {
    void* library = dlopen("libpcp_trace.so.2", RTLD_NOW | RTLD_LOCAL);
    int (*point)(const char*) =
        library == NULL ? NULL : (int (*)(const char*))dlsym(library, "pmtracepoint");
    if (point == NULL) return 97;
    point("dlopened");
    if (dlclose(library) != 0) return 96;
  }
  return 0;
}

/* To nobody, if root; else to the same user. GCOV_PREFIX: another user cannot write gcov's counts
beside the ones that exist. */
static int change_user(void) {
  const char* everybodys = getenv("LIFECYCLE_EVERYBODYS");
  if (everybodys != NULL) setenv("GCOV_PREFIX", everybodys, 1);
  return setuid(getuid() == 0 ? 65534 : getuid());
}

static int changed_user(void) {
  pmtracepoint("before");
  if (change_user() != 0) return 97;
  pmtracepoint("after");
  return 0;
}

/* Like servers that root starts: the master stays root, its workers do not. The workers' children
 * trace after the workers have ended. */
static int workers_of_another_user(void) {
  int status = 0;
  int number;
  pmtracepoint("master");
  for (number = 0; number < 4; number++) {
    if (fork() != 0) continue;
    if (change_user() != 0) _exit(97);
    if (fork() != 0) _exit(0);
    pmtracepoint("worker");
    exit(0);
  }
  for (number = 0; number < 4; number++) status |= status_of(-1);
  return status;
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    int (*live)(void);
  } moments[] = {
      {"constructor", nothing},
      {"destructor", nothing},
      {"forked", forked},
      {"forked-twice", forked_twice},
      {"forked-during-look-up", forked_during_look_up},
      {"forks-in-handlers", forks_in_handlers},
      {"ended-among-forks", ended_among_forks},
      {"vforked", vforked},
      {"spawned", spawned},
      {"execed", execed},
      {"detached-threads", detached_threads},
      {"dlopened", dlopened},
      {"changed-user", changed_user},
      {"workers-of-another-user", workers_of_another_user},
      {"pre-forked", pre_forked},
      {"left-without-a-word", left_without_a_word},
      {"daemonized", daemonized},
      {"impatient", impatient},
      {"interrupted", interrupted},
      {"interrupted-quickly", interrupted},
      {"stuck", stuck},
      {"threadless", threadless},
      {"threadless-flush", threadless_flush},
      {"threadless-alarms", threadless_alarms},
      {"threadless-at-first", threadless_at_first},
      {"left-quickly", left_quickly},
      {"main-left", main_left},
      {"main-left-alone", main_left_alone},
      {"main-left-untraced", main_left_untraced},
      {"main-left-in-child", main_left_in_child},
  };
  size_t i;
  if (argc < 2) return 2;
  own_path = argv[0];
  moment = argv[1];
  pmtracestate(PMTRACE_STATE_ASYNC);
  if (argc == 3 && strcmp(moment, "begun-anew") == 0) return begun_anew(atoi(argv[2]));
  for (i = 0; i < sizeof moments / sizeof *moments; i++)
    if (strcmp(moment, moments[i].name) == 0) return moments[i].live();
  return 2;
}
