/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Loads the library as Python and Java do, makes one call, and leaves at once: by exec or by _exit.
 */
#include <dlfcn.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char** argv) {
  void* library = dlopen("libpcp_trace.so.2", RTLD_NOW | RTLD_LOCAL);
  int (*point)(const char*) =
      library == NULL ? NULL : (int (*)(const char*))dlsym(library, "pmtracepoint");
  if (point == NULL || argc < 2) return 97;
  point("a");
  if (strcmp(argv[1], "exec") == 0) execl("/bin/true", "true", (char*)NULL);
  _exit(0);
}
