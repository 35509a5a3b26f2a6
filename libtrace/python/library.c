/*
 * Loads the C library. Linking with it would stop programs on machines that lack it, or that have
 * PCP's library of the same name.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#define _GNU_SOURCE 1   /* for dladdr */
#define PMTRACE_DISABLE /* the header's own calls do nothing: the default */
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "native.h"

#define DO_NOTHING(name) .name = (pmtrace_##name),
struct calls library = {FOR_EACH_CALL(DO_NOTHING)};

static const atomic_int kUnknownState = 0;
const atomic_int* library_state = &kUnknownState;

static void (*library_exit)(int status);
static const char** default_service; /* the library's */

static int find_calls(void* file) {
  struct calls found;
#define FIND_CALL(name) \
  if ((found.name = (__typeof__(found.name))dlsym(file, "pmtrace_" #name)) == NULL) return 0;
  FOR_EACH_CALL(FIND_CALL)
  library = found;
  library_exit = (void (*)(int))dlsym(file, "_exit");
  default_service = (const char**)dlsym(file, "pcp_trace_default_service");
  const atomic_int* const* const state = dlsym(file, "pcp_trace_state");
  if (state != NULL) library_state = *state;
  return 1;
}

static char problem[512]; /* empty: there is none, or nobody misses the library */

static int find_in(const char* path) {
  void* const file = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (file != NULL && find_calls(file)) return 1;
  if (*problem == '\0')
    snprintf(problem, sizeof problem, "%s",
             file == NULL ? dlerror()
                          : "libpcp_trace.so.2 is PCP's own, which lacks the calls by handle");
  return 0;
}

/* The library that was installed with us is not where the linker looks: PCP's has the same name. */
static int find_installed(void) {
  Dl_info us;
  char path[PATH_MAX];
  if (dladdr(&library, &us) == 0 || strrchr(us.dli_fname, '/') == NULL) return 0;
  snprintf(path, sizeof path, "%.*s/" TO_LIBDIR "/libpcp_trace.so.2",
           (int)(strrchr(us.dli_fname, '/') - us.dli_fname), us.dli_fname);
  return find_in(path);
}

static void find_library(void) {
  if (find_in("libpcp_trace.so.2") || find_installed() ||
      (getenv("PCP_TRACE_NOAGENT") != NULL && getenv("PCP_TRACE_MMV") == NULL))
    *problem = '\0';
}

/* Python's standard error may let other interpreters run, so it comes after the search. */
void load_library(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  static atomic_flag is_said = ATOMIC_FLAG_INIT;
  pthread_once(&once, find_library);
  if (*problem == '\0' || atomic_flag_test_and_set(&is_said)) return;
  PySys_WriteStderr(
      "pcp_trace: nothing is traced: %s. Install the library of pcp-trace, or put its directory "
      "into LD_LIBRARY_PATH\n",
      problem);
}

/* Keeps the copy for the process's life. */
void set_service(const char* name) {
  if (default_service != NULL && *default_service == NULL) *default_service = strdup(name);
}

/* The library's _exit() delivers before it ends the process; Python calls the C library's. */
void deliver_and_exit(int status) {
  if (library_exit != NULL) library_exit(status);
}
