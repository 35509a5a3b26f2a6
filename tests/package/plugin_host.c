/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Loads a plug-in, uses it, and lets it go, as often as it is told to; then lives on for a while.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int count, char** arguments) {
  int i;
  for (i = 0; count == 3 && i < atoi(arguments[2]); i++) {
    void* plugin = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
    int (*trace)(void) = NULL;
    if (plugin == NULL) return 1;
    *(void**)&trace = dlsym(plugin, "trace");
    if (trace == NULL || trace() != 0 || dlclose(plugin) != 0) return 2;
    usleep(300 * 1000); /* more than a flush interval */
  }
  puts("traced");
  return 0;
}
