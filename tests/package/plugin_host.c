/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Loads, uses and unloads a plug-in as often as it is told to: the plug-in's library has a thread,
 * so its code stays loaded. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

int main(int count, char** arguments) {
  int i;
  for (i = 0; count == 3 && i < atoi(arguments[2]); i++) {
    void* plugin = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
    int (*trace)(void) = NULL;
    if (plugin == NULL) return 1;
    *(void**)&trace = dlsym(plugin, "trace");
    if (trace == NULL || trace() != 0 || dlclose(plugin) != 0) return 2;
    if (trace() != 0) return 3;
  }
  puts("traced");
  return 0;
}
