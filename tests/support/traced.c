/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A traced program that a test controls: each line of standard input is one call, and its result is
 * one line of standard output.
 *
 *   point TAG   begin TAG   end TAG   abort TAG   obs VALUE TAG   counter VALUE TAG
 *   add VALUE TAG      pmtrace_add, if the library has it
 *   flush SECONDS      pmtrace_flush, if the library has it
 *   null CALL          the call with a NULL tag
 *   state FLAGS        pmtracestate
 *   errstr CODE        prints the text
 *   sleep SECONDS      prints 0
 *   step SECONDS       steps the wall clock, if stepped_clock.so is preloaded
 *
 * A tag is the rest of the line. Compiled against PCP's own header and linked with PCP's own
 * library, so it stands for existing programs.
 */
#include <dlfcn.h>
#include <pcp/trace.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int stay(double seconds) {
  struct timespec left;
  left.tv_sec = (time_t)seconds;
  left.tv_nsec = (long)((seconds - (double)left.tv_sec) * 1e9);
  while (nanosleep(&left, &left) != 0) /* load: as long as the test says */
    ;
  return 0;
}

static int step_clock(double seconds) {
  void (*step)(double);
  *(void**)&step = dlsym(RTLD_DEFAULT, "step_wall_clock");
  if (step == NULL) return -1;
  step(seconds);
  return 0;
}

static int add(double value, const char* tag) {
  const void* (*look_up)(const char*);
  int (*add_to)(const void*, double);
  *(void**)&look_up = dlsym(RTLD_DEFAULT, "pmtrace_tag");
  *(void**)&add_to = dlsym(RTLD_DEFAULT, "pmtrace_add");
  if (look_up == NULL || add_to == NULL) return -1;
  return add_to(look_up(tag), value);
}

static int flush(double seconds) {
  int (*flush_for)(double);
  *(void**)&flush_for = dlsym(RTLD_DEFAULT, "pmtrace_flush");
  return flush_for == NULL ? -1 : flush_for(seconds);
}

static int call(const char* name, double value, const char* tag) {
  if (strcmp(name, "point") == 0) return pmtracepoint(tag);
  if (strcmp(name, "begin") == 0) return pmtracebegin(tag);
  if (strcmp(name, "end") == 0) return pmtraceend(tag);
  if (strcmp(name, "abort") == 0) return pmtraceabort(tag);
  if (strcmp(name, "obs") == 0) return pmtraceobs(tag, value);
  if (strcmp(name, "counter") == 0) return pmtracecounter(tag, value);
  if (strcmp(name, "add") == 0) return add(value, tag);
  fprintf(stderr, "traced: no such call: %s\n", name);
  exit(2);
}

static int obey(const char* name, char* rest) {
  double value = 0;
  if (strcmp(name, "null") == 0) return call(rest, 1.0, NULL);
  if (strcmp(name, "state") == 0) return pmtracestate(atoi(rest));
  if (strcmp(name, "flush") == 0) return flush(atof(rest));
  if (strcmp(name, "sleep") == 0) return stay(atof(rest));
  if (strcmp(name, "step") == 0) return step_clock(atof(rest));
  if (strcmp(name, "obs") == 0 || strcmp(name, "counter") == 0 || strcmp(name, "add") == 0) {
    value = strtod(rest, &rest);
    rest += *rest == ' ';
  }
  return call(name, value, rest);
}

int main(void) {
  static char line[4096];
  while (fgets(line, sizeof line, stdin) != NULL) {
    char* rest;
    line[strcspn(line, "\n")] = '\0';
    rest = line + strcspn(line, " ");
    if (*rest != '\0') *rest++ = '\0';
    if (strcmp(line, "errstr") == 0)
      printf("%s\n", pmtraceerrstr(atoi(rest)));
    else
      printf("%d\n", obey(line, rest));
    fflush(stdout);
  }
  return 0;
}
