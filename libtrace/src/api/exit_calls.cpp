// SPDX-License-Identifier: LGPL-2.1-or-later
// Replaces _exit(), _Exit() and daemon() in programs linked with the shared library: delivers
// pending records, as at exit(). Pre-fork servers end each child by _exit(), and daemon() ends its
// parent in the same way. Signal handlers may call _exit(), so it must be async-signal-safe.
//
// The calls are in the shared library only, and exported without a version. So a program linked
// with this library runs with PCP's, too, and a program linked with PCP's or none finds them here.
// The C library's come first if only a library of the program links this one, or if it was opened
// by dlopen().
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "api/api.hpp"
#include "process/client.hpp"

namespace {

using namespace pcp::trace::client;

using Exit = void (*)(int status);
Exit next_exit = nullptr;

// At load time, since dlsym() takes locks.
[[gnu::constructor]] void find_next_exit() {
  next_exit = reinterpret_cast<Exit>(::dlsym(RTLD_NEXT, "_exit"));
}

[[noreturn]] void deliver_and_exit(int status) {
  if (Client* client = Client::get_to_finish()) client->finish_in_handler();
  if (next_exit != nullptr) next_exit(status);
  for (;;) ::syscall(SYS_exit_group, status);
}

// Puts /dev/null on descriptors 0 to 2, if it is the real null device.
bool let_go_of_terminal() {
  const int fd = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  if (fd < 0) return false;
  struct stat status {};
  const bool is_null =
      ::fstat(fd, &status) == 0 && S_ISCHR(status.st_mode) && status.st_rdev == makedev(1, 3);
  if (!is_null) errno = ENODEV;
  for (int standard = 0; is_null && standard <= 2; ++standard) ::dup2(fd, standard);
  if (!is_null || fd > 2) ::close(fd);
  return is_null;
}

}  // namespace

extern "C" {

PMTRACE_EXPORT void _exit(int status) { deliver_and_exit(status); }
PMTRACE_EXPORT void _Exit(int status) noexcept { deliver_and_exit(status); }

// The C library's daemon() ends the parent by an internal _exit().
PMTRACE_EXPORT int daemon(int keeps_directory, int keeps_terminal) noexcept {
  const pid_t child = ::fork();
  if (child < 0) return -1;
  if (child > 0) deliver_and_exit(EXIT_SUCCESS);
  if (::setsid() < 0) return -1;
  if (keeps_directory == 0 && ::chdir("/") != 0) return -1;
  return keeps_terminal != 0 || let_go_of_terminal() ? 0 : -1;
}

}  // extern "C"
