/*
 * Loads the C library. Linking with it would stop programs on machines that lack it, or that have
 * PCP's library of the same name.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#define PMTRACE_DISABLE /* the header's own calls do nothing: the default */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "native.h"

#define DO_NOTHING(name) .name = (pmtrace_##name),
struct calls library = {FOR_EACH_CALL(DO_NOTHING)};

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
  return 1;
}

static char problem[512]; /* empty: there is none, or nobody misses the library */

static void find_library(void) {
  void* const file = dlopen("libpcp_trace.so.2", RTLD_NOW | RTLD_LOCAL);
  if (file != NULL && find_calls(file)) return;
  if (getenv("PCP_TRACE_NOAGENT") != NULL && getenv("PCP_TRACE_MMV") == NULL) return;
  snprintf(
      problem, sizeof problem, "%s",
      file == NULL ? dlerror() : "libpcp_trace.so.2 is PCP's own, which lacks the calls by handle");
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
