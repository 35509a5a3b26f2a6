/*
 * Unusual moments in the life of a process, one for each word that it may be called with: it traces
 * then, checks what it can see by itself, and ends with status 0 if that is well.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <pcp/trace.h>
#include <pthread.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
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

/* How many descriptors this process has open, without the one that counts. */
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

/* ------------------------------------------------------------------------- before and after main
 */

__attribute__((constructor)) static void construct(void) {
  if (getenv("LIFECYCLE_CONSTRUCTOR") != NULL) pmtracepoint("constructor");
}

__attribute__((destructor)) static void destruct(void) {
  if (strcmp(moment, "destructor") == 0) pmtracepoint("destructor");
}

static int nothing(void) { return 0; }

/* ------------------------------------------------------------------------------- other processes
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

/* A child that never traces keeps nothing, either, and a grandchild is one of its own. */
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

static int forked_and_execed(void) {
  const int before = count_descriptors();
  pid_t child;
  pmtracepoint("parent");
  child = fork();
  if (child == 0) _exit(exec_self("begun-anew", before));
  return status_of(child);
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

/* exec gives no last chance to deliver. */
static int execed(void) {
  const int before = count_descriptors();
  pmtracepoint("parent");
  pmtrace_flush(getenv("LIFECYCLE_NO_AGENT") != NULL ? 0 : 60);
  return exec_self("begun-anew", before);
}

/* What the others execute: it must find so many descriptors as there were before. */
static int begun_anew(int expected) {
  const int found = count_descriptors();
  pmtracepoint("begun anew");
  if (found != expected) fprintf(stderr, "%d descriptors, not %d\n", found, expected);
  return found == expected ? 0 : 1;
}

/* ---------------------------------------------------------------------------------------- threads
 */

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

/* Prints between which two numbers the agent's count has to be. */
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
    while (calls->done < 10000) usleep(1000);
    calls->done_at_end = calls->done;
    exit(0);
  }
  status = status_of(child);
  printf("%lu %lu\n", (unsigned long)calls->done_at_end, (unsigned long)calls->begun);
  return status;
}

/* ------------------------------------------------------------------------------------- the rest */

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

/* To nobody, as root; else to oneself. */
static int changed_user(void) {
  const uid_t user = getuid() == 0 ? 65534 : getuid();
  pmtracepoint("before");
  if (setuid(user) != 0) return 97;
  pmtracepoint("after");
  return 0;
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
      {"vforked", vforked},
      {"forked-and-execed", forked_and_execed},
      {"spawned", spawned},
      {"execed", execed},
      {"detached-threads", detached_threads},
      {"dlopened", dlopened},
      {"changed-user", changed_user},
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
