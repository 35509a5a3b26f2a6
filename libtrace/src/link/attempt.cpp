// SPDX-License-Identifier: LGPL-2.1-or-later
#include "link/attempt.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>

namespace pcp::trace::client {
namespace {

constexpr std::uint64_t kMs = 1'000'000;

// After an agent has gone the first attempt comes soon, but not from all clients at once.
constexpr std::uint64_t kFirstReconnectMs = 500;

// Pause between looks at this host's socket while it is gone or refuses connections. A look costs
// microseconds, and most programs find a restarted agent before they end.
constexpr std::uint64_t kLocalPauseMs = 250;

bool is_nobody_there(int error) { return error == -ECONNREFUSED || error == -ENOENT; }

}  // namespace

Reach Attempt::begin(std::uint64_t now_ns) {
  is_local_ = now_ns < next_full_attempt_ns_;
  const std::chrono::nanoseconds patience = options_.connect_timeout;
  ends_ns_ = now_ns + static_cast<std::uint64_t>(patience.count());
  endpoints_.clear();
  next_ = 0;
  first_error_ = is_local_ ? -ENOENT : -EHOSTUNREACH;
  return is_local_ ? Reach::Local : Reach::All;
}

const Endpoint* Attempt::next(int error, std::uint64_t now_ns) {
  if (next_ == 1) first_error_ = error;
  if (next_ == endpoints_.size()) return nullptr;
  // Each address gets an equal share of the time left, so a silent one leaves time for the others.
  deadline_ns_ = now_ns + (std::max(ends_ns_, now_ns) - now_ns) / (endpoints_.size() - next_);
  return &endpoints_[next_++];
}

void Attempt::on_ready() {
  deadline_ns_ = kNever;
  failures_ = 0;
}

bool Attempt::end(int error, bool is_gone_for_good, std::uint64_t now_ns) {
  deadline_ns_ = kNever;
  const bool may_come_back = is_nobody_there(error);
  const bool was_whole = !is_local_ || !may_come_back;
  if (was_whole) next_full_attempt_ns_ = now_ns + next_pause_ns(error);
  next_attempt_ns_ = next_full_attempt_ns_;
  if (may_come_back && options_.has_local_endpoint() && !is_gone_for_good)
    next_attempt_ns_ = std::min(
        next_attempt_ns_, now_ns + any_of(kLocalPauseMs * 4 / 5, kLocalPauseMs * 6 / 5) * kMs);
  return was_whole;
}

std::uint64_t Attempt::next_pause_ns(int error) {
  const bool is_agents_fault = error != kNoMemoryToConnect;
  if (!is_agents_fault || (failures_++ == 0 && was_greeted_))
    return any_of(0, kFirstReconnectMs) * kMs;
  const auto& delays = options_.reconnect_delays;
  const std::size_t step = std::min(failures_ - (was_greeted_ ? 2 : 1), delays.size() - 1);
  const std::chrono::nanoseconds delay = delays[step] / 100;
  return static_cast<std::uint64_t>(delay.count()) * any_of(80, 120);
}

std::uint64_t Attempt::any_of(std::uint64_t least, std::uint64_t most) {
  return std::uniform_int_distribution(least, most)(random_);
}

}  // namespace pcp::trace::client
