// SPDX-License-Identifier: LGPL-2.1-or-later
#include "delivery/harmless_write.hpp"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>

namespace pcp::trace::client {
namespace {

// Keeps the two signals that a write may cause from the program. Both come to the thread that
// writes, before the call returns.
class NoSignal {
 public:
  NoSignal() {
    ::sigemptyset(&ours_);
    ::sigaddset(&ours_, SIGPIPE);  // nobody reads
    ::sigaddset(&ours_, SIGXFSZ);  // the file is as long as the process may make it
    ::pthread_sigmask(SIG_BLOCK, &ours_, &before_);
    sigset_t pending;
    ::sigpending(&pending);
    for (const int signal : {SIGPIPE, SIGXFSZ})
      if (::sigismember(&pending, signal) == 1) ::sigdelset(&ours_, signal);  // the program's
  }
  ~NoSignal() {
    const timespec now{};
    while (has_caused_ && ::sigtimedwait(&ours_, nullptr, &now) < 0 && errno == EINTR) {
    }
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  NoSignal(const NoSignal&) = delete;
  NoSignal& operator=(const NoSignal&) = delete;

  bool write(int fd, std::string_view text) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    has_caused_ = written < 0 && (errno == EPIPE || errno == EFBIG);
    return written >= 0;
  }

 private:
  sigset_t ours_;
  sigset_t before_;
  bool has_caused_ = false;
};

// A pipe has room for what fits into PIPE_BUF, or none.
bool has_room(int fd) {
  pollfd output{fd, POLLOUT, 0};
  return ::poll(&output, 1, 0) == 1 && (output.revents & POLLOUT) != 0;
}

}  // namespace

bool write_harmlessly(int fd, std::string_view text) {
  NoSignal quietly;
  // Whoever fills the pipe between the two makes us wait for its reader after all.
  return has_room(fd) && quietly.write(fd, text);
}

}  // namespace pcp::trace::client
