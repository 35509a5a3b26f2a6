// _exit() and _Exit() of a program that is linked with the shared library come here first: what is
// pending is delivered, as at exit(). Pre-fork servers end each child this way. Signal handlers may
// call them, so nothing here may do what is unsafe there.
//
// In the shared library only, and exported without a version: a program that is linked with it runs
// with PCP's library as well, and one that is linked with PCP's or none comes here, too. A library
// that was opened by dlopen() is not asked.
#include <dlfcn.h>
#include <sys/syscall.h>
#include <unistd.h>

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

}  // namespace

extern "C" {

PMTRACE_EXPORT void _exit(int status) { deliver_and_exit(status); }
PMTRACE_EXPORT void _Exit(int status) noexcept { deliver_and_exit(status); }

}  // extern "C"
