// SPDX-License-Identifier: LGPL-2.1-or-later
#include "platform/harmless_write.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <ctime>

namespace pcp::trace::client {
namespace {

// Keeps a write's signals from the program. SIGPIPE and SIGXFSZ come to the writing thread before
// write() returns. SIGTTOU would stop a background process on a terminal with `stty tostop`; while
// blocked, the kernel writes instead.
class NoSignal {
 public:
  NoSignal() {
    ::sigemptyset(&ours_);
    ::sigaddset(&ours_, SIGPIPE);  // no reader
    ::sigaddset(&ours_, SIGXFSZ);  // the file has reached its size limit
    sigset_t blocked = ours_;
    ::sigaddset(&blocked, SIGTTOU);
    ::pthread_sigmask(SIG_BLOCK, &blocked, &before_);
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
    return written == static_cast<ssize_t>(text.size());
  }

 private:
  sigset_t ours_;
  sigset_t before_;
  bool has_caused_ = false;
};

// If writable, a pipe has room for PIPE_BUF bytes.
bool has_room(int fd) {
  pollfd output{fd, POLLOUT, 0};
  return ::poll(&output, 1, 0) == 1 && (output.revents & POLLOUT) != 0;
}

bool is_same_terminal(int one, int other) {
  unsigned device, others_device;
  return ::ioctl(one, TIOCGDEV, &device) == 0 && ::ioctl(other, TIOCGDEV, &others_device) == 0 &&
         device == others_device;
}

// Opens a terminal again for non-blocking writes: poll() does not tell how much room it has. A
// terminal of another user, after su, opens as /dev/tty. -1: neither works.
int open_without_waiting(int terminal) {
  constexpr int kFlags = O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  char path[32];
  std::snprintf(path, sizeof path, "/proc/self/fd/%d", terminal);
  const int again = ::open(path, kFlags);
  if (again >= 0) return again;
  const int own = ::open("/dev/tty", kFlags);
  if (own < 0 || is_same_terminal(own, terminal)) return own;
  ::close(own);
  return -1;
}

}  // namespace

bool write_harmlessly(int fd, std::string_view text) {
  NoSignal quietly;
  if (::isatty(fd) == 0)
    // If another thread fills the pipe between the two calls, this waits for its reader.
    return has_room(fd) && quietly.write(fd, text);
  const int terminal = open_without_waiting(fd);
  if (terminal < 0) return false;
  const bool is_written = quietly.write(terminal, text);
  ::close(terminal);
  return is_written;
}

}  // namespace pcp::trace::client
