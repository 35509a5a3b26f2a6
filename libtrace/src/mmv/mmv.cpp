// SPDX-License-Identifier: LGPL-2.1-or-later
#include "mmv/mmv.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>

#include "platform/diagnostics.hpp"

namespace pcp::trace::client {
namespace {

constexpr std::uint64_t kPauseAfterFailureNs = 10'000'000'000;
constexpr std::uint64_t kTouchAfterNs = 1'100'000'000;
constexpr std::uint64_t kLookAgainNs = 1'000'000'000;

std::string advice_for(int error) {
  switch (error) {
    case EACCES:
    case EROFS:
      return "; its user must be allowed to write there: usermod -a -G pcp USER";
    case ENOENT:
      return "; PCP creates it when pmcd starts pmdammv";
    case EEXIST:
      return ": another program's file has this name: choose another PCP_TRACE_MMV";
    case ESRCH:
      return ": /proc is needed to tell this process's file from others'";
    default:
      return "";
  }
}

}  // namespace

std::unique_ptr<Mmv> Mmv::make(const ClientOptions& options, std::array<OwnDescriptor, 2>& files) {
  return options.mmv.empty() ? nullptr : std::unique_ptr<Mmv>(new Mmv(options, files));
}

Mmv::Mmv(const ClientOptions& options, std::array<OwnDescriptor, 2>& files)
    : file_(options.mmv_directory, options.mmv, options.service, files) {
  file_.remove_dead();
}

void Mmv::publish(const OpenReport& open, std::uint64_t now_ns) {
  if (has_ended_) return;
  totals_.set_open(open);
  totals_.refresh(now_ns);
  auto& instances = totals_.instances();
  must_replace_ |= !file_.write(instances);
  if (file_.size() > 0 && next_check_ns_ <= now_ns) {
    next_check_ns_ = now_ns + kLookAgainNs;
    must_replace_ |= !file_.is_in_place();
  }
  const bool is_quiet = touch_at_ns_ == kNever || touch_at_ns_ <= now_ns;
  const auto has_new = [&] { return file_.size() < instances.size(); };
  if ((has_new() || (must_replace_ && is_quiet)) && next_try_ns_ <= now_ns) make_file(now_ns);
  if (touch_at_ns_ <= now_ns) {
    touch_at_ns_ = kNever;
    file_.touch_directory();
  }
  next_call_ns_ = std::min(totals_.next_refresh_ns(now_ns), touch_at_ns_);
  if (now_ns < next_try_ns_ && (has_new() || must_replace_))
    next_call_ns_ = std::min(next_call_ns_, next_try_ns_);
}

void Mmv::finish() {
  file_.remove();
  has_ended_ = true;
  next_call_ns_ = kNever;
}

// The program continues without a file, or with its old one.
void Mmv::make_file(std::uint64_t now_ns) {
  static std::atomic<bool> is_said{false};
  const int error = file_.replace(totals_.instances());
  if (error == 0) {
    must_replace_ = false;
    touch_at_ns_ = now_ns + kTouchAfterNs;
    return;
  }
  next_try_ns_ = now_ns + kPauseAfterFailureNs;
  if (error == EBADF) return;  // the program has closed it meanwhile
  complain_once(is_said, [&] {
    return "PCP_TRACE_MMV: no file in " + file_.directory() + ": " + std::strerror(error) +
           advice_for(error);
  });
}

}  // namespace pcp::trace::client
