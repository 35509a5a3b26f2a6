// SPDX-License-Identifier: LGPL-2.1-or-later
#include "system_calls.hpp"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <thread>

namespace pcp::trace {
namespace {

constexpr int kNone = -1;
constexpr int kRefused = -2;

// Each later system call of the calling thread waits for the reader of this descriptor. The filter
// lasts until the thread ends.
int report_own_system_calls() {
  sock_filter report_all{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_USER_NOTIF};
  const sock_fprog program{1, &report_all};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return kRefused;
  const long listener =
      ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
  return listener < 0 ? kRefused : static_cast<int>(listener);
}

// Returns once the thread has ended.
void serve(int listener, std::atomic<std::uint64_t>& count) {
  for (;;) {
    pollfd ready{listener, POLLIN, 0};
    if (::poll(&ready, 1, -1) < 0 && errno == EINTR) continue;
    if ((ready.revents & POLLIN) == 0) return;
    seccomp_notif call{};
    if (::ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &call) != 0) continue;
    count.fetch_add(1, std::memory_order_relaxed);
    seccomp_notif_resp answer{};
    answer.id = call.id;
    answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
    ::ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
  }
}

}  // namespace

bool with_system_calls_counted(
    const std::function<void(const std::atomic<std::uint64_t>& count)>& work) {
  std::atomic<std::uint64_t> count{0};
  std::atomic<int> listener{kNone};
  std::thread watched([&] {
    listener = report_own_system_calls();
    if (listener != kRefused) work(count);
  });
  // poll: the kernel reports, or refuses to; a thread that woke this one would wait for an answer
  while (listener == kNone) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  if (listener >= 0) {
    serve(listener, count);
    ::close(listener);
  }
  watched.join();
  return listener >= 0;
}

}  // namespace pcp::trace
