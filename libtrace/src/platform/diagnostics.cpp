// SPDX-License-Identifier: LGPL-2.1-or-later
#include "platform/diagnostics.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <ctime>
#include <string_view>

#include "platform/guards.hpp"
#include "platform/texts.hpp"

namespace pcp::trace::client {
namespace {

std::string hex(std::uint32_t number) {
  char text[16];
  std::snprintf(text, sizeof text, "0x%04x", number);
  return text;
}

std::string dump(std::string_view bytes) {
  std::string text;
  char byte[4];
  for (const char c : bytes.substr(0, 64)) {
    std::snprintf(byte, sizeof byte, " %02x", static_cast<unsigned char>(c));
    text += byte;
  }
  return bytes.size() > 64 ? text + " ..." : text;
}

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

// Writes without signals for the program, and without waiting for a reader: at most PIPE_BUF bytes.
// False if there was no room for all, or no reader. Changes errno.
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

// Where lines go; null: to standard error. Released by send_diagnostics_to().
std::atomic<const std::string*> diagnostic_file{nullptr};

// Since the last line written. Orders nothing else.
std::atomic<std::uint64_t> lines_lost{0};

// One write, at most what a pipe takes at once, so that lines of several threads do not mix.
void write_line(int fd, const std::string& text) {
  const std::uint64_t lost = lines_lost.exchange(0, std::memory_order_relaxed);
  std::string line;
  if (lost > 0) line = "pcp_trace: " + std::to_string(lost) + " lines before this one were lost\n";
  line += "pcp_trace: " + without_controls(text) + '\n';
  if (line.size() > PIPE_BUF) line = std::string(cut_text(line, PIPE_BUF - 4)) + "...\n";
  if (!write_harmlessly(fd, line)) lines_lost.fetch_add(lost + 1, std::memory_order_relaxed);
}

// Replaces %p by the process id, also in a child that has no client yet.
std::string present_path(std::string path) {
  const std::string number = std::to_string(::getpid());
  for (std::size_t at = 0; (at = path.find("%p", at)) != path.npos; at += number.size())
    path.replace(at, 2, number);
  return path;
}

// Opened for each line: no descriptor that a program could close or a child inherit. -1: use
// standard error.
int open_diagnostic_file() {
  const std::string* file = diagnostic_file.load(std::memory_order_acquire);
  if (file == nullptr) return -1;
  const std::string path = present_path(*file);
  const int fd = ::open(path.c_str(),
                        O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY |
                            O_NONBLOCK,  // a pipe without reader
                        0600);
  static std::atomic<bool> is_said{false};
  if (fd < 0 && !is_said.exchange(true, std::memory_order_relaxed))
    complain("PCP_TRACE_DEBUG: cannot open \"" + path +
             "\", printing on standard error: " + pmtraceerrstr(-errno));
  return fd;
}

}  // namespace

void send_diagnostics_to(const std::string& file) {
  diagnostic_file.store(&file, std::memory_order_release);
}

void complain(const std::string& text) {
  const NoCancellation guard;
  const ErrnoStays errno_stays;
  write_line(STDERR_FILENO, text);
}

void print_line(const std::string& text) {
  const NoCancellation guard;
  const ErrnoStays errno_stays;
  const int file = open_diagnostic_file();
  write_line(file >= 0 ? file : STDERR_FILENO, text);
  if (file >= 0) ::close(file);
}

void diagnose_pdu(const char* what, const wire::Frame& pdu) {
  if (!has_state(PMTRACE_STATE_PDU | PMTRACE_STATE_PDUBUF)) return;
  std::string line = std::string("PDU ") + what + ": type " +
                     hex(static_cast<std::uint32_t>(pdu.type)) + ", " +
                     std::to_string(pdu.payload.size() + wire::kHeaderBytes) + " bytes";
  if (has_state(PMTRACE_STATE_PDUBUF)) line += ", payload" + dump(pdu.payload);
  print_line(line);
}

void diagnose_pdus(const char* what, std::string_view bytes) {
  if (!has_state(PMTRACE_STATE_PDU | PMTRACE_STATE_PDUBUF)) return;
  while (bytes.size() >= wire::kHeaderBytes) {
    const std::size_t length = wire::read_u32(bytes);
    const auto type = static_cast<wire::PduType>(wire::read_u32(bytes.substr(4)));
    diagnose_pdu(what, {type, wire::read_u32(bytes.substr(8)),
                        bytes.substr(wire::kHeaderBytes, length - wire::kHeaderBytes)});
    bytes.remove_prefix(length);
  }
}

}  // namespace pcp::trace::client
