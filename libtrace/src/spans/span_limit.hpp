// SPDX-License-Identifier: LGPL-2.1-or-later
// Limits the spans per second that one filter takes from a process, by whole traces: over the limit
// it takes a smaller share of the trace ids. A greater share includes a smaller one, so other
// processes, which do not know this limit, have the other parts of the same traces.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace pcp::trace::client {

// Thread: any, but for set().
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

  // Decides about the rest of a trace that was taken: a whole one may come to more than the limit.
  bool admits_the_rest(std::uint64_t now_ns) const {
    return in_second(state_.load(std::memory_order_relaxed), now_ns).spans / 4 < limit_;
  }

  static bool is_asked_for(std::uint64_t share, std::uint64_t trace_low) {
    constexpr std::uint64_t kAll = std::uint64_t{1} << 56;
    return (trace_low & (kAll - 1)) >= kAll - share;
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
    std::uint32_t halvings = 0;  // of the share, because of earlier seconds
  };
  static constexpr std::uint32_t kMostSpans = (1u << 26) - 1;
  static constexpr std::uint32_t kMostHalvings = 40;

  static std::uint64_t pack(const State& state) {
    return std::uint64_t{state.second} << 32 | std::uint64_t{state.halvings} << 26 | state.spans;
  }
  static State unpack(std::uint64_t packed) {
    return {static_cast<std::uint32_t>(packed >> 32),
            static_cast<std::uint32_t>(packed) & kMostSpans,
            static_cast<std::uint32_t>(packed) >> 26};
  }
  bool takes(const State& state, std::uint64_t share, std::uint64_t trace_low) const {
    // Twice the limit is the hard end, whatever the ids are.
    if (state.spans / 2 >= limit_) return false;
    const unsigned halvings = state.halvings + (state.spans >= limit_ ? 1 : 0);
    return is_asked_for(share >> halvings, trace_low);
  }
  State in_second(std::uint64_t packed, std::uint64_t now_ns) const {
    State state = unpack(packed);
    const auto second = static_cast<std::uint32_t>(now_ns / 1'000'000'000);
    // A thread that read the clock a little earlier must not restart that second.
    if (static_cast<std::int32_t>(second - state.second) <= 0) return state;
    const bool was_much = state.spans >= limit_;
    const bool was_little = state.spans < limit_ / 3 || second != state.second + 1;
    if (was_much) state.halvings = std::min(state.halvings + 1, kMostHalvings);
    if (was_little && state.halvings > 0) --state.halvings;
    return {second, 0, state.halvings};
  }

  std::uint32_t limit_ = 1;
  std::atomic<std::uint64_t> state_{0};  // orders nothing else
};

}  // namespace pcp::trace::client
