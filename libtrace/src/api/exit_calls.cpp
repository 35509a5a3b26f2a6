// SPDX-License-Identifier: LGPL-2.1-or-later
// _exit(), _Exit() and daemon() of a program that is linked with the shared library come here
// first: what is pending is delivered, as at exit(). Pre-fork servers end each child this way, and
// daemon() ends the parent so. Signal handlers may call _exit(), so it may do nothing that is
// unsafe there.
//
// In the shared library only, and exported without a version: a program that is linked with it runs
// with PCP's library as well, and one that is linked with PCP's or none comes here, too. The C
// library's own are found first where the program itself is not linked with it, but only a library
// of the program's, or where it was opened by dlopen().
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

// Before it is needed: dlsym() takes locks.
[[gnu::constructor]] void find_next_exit() {
  next_exit = reinterpret_cast<Exit>(::dlsym(RTLD_NEXT, "_exit"));
}

[[noreturn]] void deliver_and_exit(int status) {
  if (Client* client = Client::get_to_finish()) client->finish_in_handler();
  if (next_exit != nullptr) next_exit(status);
  for (;;) ::syscall(SYS_exit_group, status);
}

// Standard input, output and error become /dev/null, if that is what its name says.
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

// The C library's would end the parent by an _exit() that cannot be seen from here.
PMTRACE_EXPORT int daemon(int keeps_directory, int keeps_terminal) noexcept {
  const pid_t child = ::fork();
  if (child < 0) return -1;
  if (child > 0) deliver_and_exit(EXIT_SUCCESS);
  if (::setsid() < 0) return -1;
  if (keeps_directory == 0 && ::chdir("/") != 0) return -1;
  return keeps_terminal != 0 || let_go_of_terminal() ? 0 : -1;
}

}  // extern "C"
