// SPDX-License-Identifier: LGPL-2.1-or-later
// Limits the spans per second that one filter takes from a process, by whole traces: over the limit
// it takes a smaller share of the trace ids. A greater share includes a smaller one, so other
// processes, which do not know this limit, have the other parts of the same traces.
//
// The more spans of a second are over the limit, the smaller is the share: 1/e of it at twice the
// limit. So at a steady rate up to e times the limit, the share at the second's end is the right
// one for the next second; a higher rate needs some seconds.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "wire/events.hpp"

namespace pcp::trace::client {

// Thread: any, except for set().
class SpanLimit {
 public:
  void set(std::uint32_t most_a_second) { limit_ = std::max<std::uint32_t>(most_a_second, 1); }
  void go_on_from(const SpanLimit& other) {
    state_.store(other.state_.load(std::memory_order_relaxed), std::memory_order_relaxed);
  }

  enum class Answer { Taken, NotAskedFor, OverLimit };

  // Decides about a trace now. `share` is the part of all trace ids, in units of 2^-56.
  Answer admits(std::uint64_t share, std::uint64_t trace_low, std::uint64_t now_ns) const {
    if (!is_asked_for(share, trace_low)) return Answer::NotAskedFor;
    const State now = in_second(state_.load(std::memory_order_relaxed), now_ns);
    return takes(now, share, trace_low) ? Answer::Taken : Answer::OverLimit;
  }

  // True if taken at any time after the last count, so the caller need not read the clock: later
  // seconds take at least as much as the rest of this one.
  bool admits_from_now_on(std::uint64_t share, std::uint64_t trace_low) const {
    return takes(unpack(state_.load(std::memory_order_relaxed)), share, trace_low);
  }

  // Decides about the rest of a trace that was taken: a whole trace may exceed the limit.
  bool admits_the_rest(std::uint64_t now_ns) const {
    return in_second(state_.load(std::memory_order_relaxed), now_ns).spans / 4 < limit_;
  }

  static bool is_asked_for(std::uint64_t share, std::uint64_t trace_low) {
    return wire::reaches_threshold(trace_low, wire::kAllIds - share);
  }

  // The threshold that traces reach which are taken now, out of those of this share.
  std::uint64_t threshold(std::uint64_t share) const {
    return wire::kAllIds - cut(share, cuts_after(unpack(state_.load(std::memory_order_relaxed))));
  }

  void count(std::uint64_t now_ns) {
    std::uint64_t before = state_.load(std::memory_order_relaxed);
    std::uint64_t after;
    do {
      State state = in_second(before, now_ns);
      state.spans = std::min(state.spans + 1, kMostSpans);
      after = pack(state);
    } while (!state_.compare_exchange_weak(before, after, std::memory_order_relaxed));
  }

 private:
  // State of the current second.
  struct State {
    std::uint32_t second = 0;
    std::uint32_t spans = 0;
    std::uint32_t cuts = 0;  // of the share, because of earlier seconds
  };
  static constexpr unsigned kSpanBits = 24;
  static constexpr std::uint32_t kMostSpans = (1u << kSpanBits) - 1;
  // So many cuts halve the share. Each takes the same amount, until the half is left.
  static constexpr std::uint32_t kHalf = 8;
  static constexpr std::uint32_t kMostCuts = 255;
  static constexpr std::uint32_t kCutsToAnEth = 12;  // kHalf * log2(e)

  static std::uint64_t pack(const State& state) {
    return std::uint64_t{state.second} << 32 | std::uint64_t{state.cuts} << kSpanBits | state.spans;
  }
  static State unpack(std::uint64_t packed) {
    return {static_cast<std::uint32_t>(packed >> 32),
            static_cast<std::uint32_t>(packed) & kMostSpans,
            static_cast<std::uint32_t>(packed) >> kSpanBits};
  }
  static std::uint64_t cut(std::uint64_t share, std::uint32_t cuts) {
    if (cuts == 0) [[likely]]
      return share;
    share >>= cuts / kHalf;
    return share - share / (2 * kHalf) * (cuts % kHalf);
  }
  // The cuts that this second's spans come to.
  std::uint32_t cuts_after(const State& state) const {
    if (state.spans <= limit_) return state.cuts;
    const std::uint32_t over = std::min(state.spans - limit_, limit_);
    return std::min(state.cuts + (over * kCutsToAnEth + limit_ - 1) / limit_, kMostCuts);
  }
  bool takes(const State& state, std::uint64_t share, std::uint64_t trace_low) const {
    // Beyond twice the limit nothing is taken, whatever the ids are.
    if (state.spans / 2 >= limit_) return false;
    return is_asked_for(cut(share, cuts_after(state)), trace_low);
  }
  State in_second(std::uint64_t packed, std::uint64_t now_ns) const {
    const State state = unpack(packed);
    const auto second = static_cast<std::uint32_t>(now_ns / 1'000'000'000);
    // A thread that read the clock a little earlier must not restart that second.
    if (static_cast<std::int32_t>(second - state.second) <= 0) return state;
    std::uint32_t cuts = cuts_after(state);
    // Removes as many cuts as the limit would have allowed, each for an eighth more; at most
    // doubles the share. A second without spans would have allowed any share.
    double spans = second == state.second + 1 ? state.spans : 0;
    for (std::uint32_t less = 0; less < kHalf && cuts > 0 && (spans *= 1.125) <= limit_; ++less)
      --cuts;
    return {second, 0, cuts};
  }

  std::uint32_t limit_ = 1;
  std::atomic<std::uint64_t> state_{0};  // orders nothing else
};

}  // namespace pcp::trace::client
