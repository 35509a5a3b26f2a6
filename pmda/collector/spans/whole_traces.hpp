// SPDX-License-Identifier: LGPL-2.1-or-later
// The share of traces that all processes of a capture take. A process over its limit= takes a
// smaller share of the trace ids, and says so. Nobody wants the traces that it leaves out from
// other processes: these traces would be shown with a part missing.
//
// A process speaks for its user only: nobody can hide another user's traces. If it is the only one
// of its user that sends spans, there is nothing to leave out.
//
// A value type.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/clock.hpp"
#include "collector/spans/stored_span.hpp"
#include "wire/batch.hpp"
#include "wire/events.hpp"

namespace pcp::trace::agent {

class WholeTraces {
 public:
  // A threshold holds at least so long, and less than twice as long. A process that is still over
  // its limit says so more often.
  static constexpr Duration kHeld = std::chrono::seconds(5);

  // A process leaves out the traces that do not reach this threshold.
  void note(std::size_t bit, const std::string& user, std::uint64_t threshold, Instant now) {
    if (threshold == 0) return;
    auto& users = captures_[bit];
    std::erase_if(users, [&](const auto& each) { return each.second.at(now) == 0; });
    users[user].note(threshold, now);
  }

  using Thresholds = std::array<std::uint64_t, wire::kMaxCaptures>;

  // The thresholds that traces reach which are whole. A process of this user sends some now.
  Thresholds thresholds(CaptureBits bits, const std::string& user, const wire::SessionId& process,
                        Instant now) {
    Thresholds thresholds{};
    wire::for_each_bit(bits, [&](std::size_t bit) {
      const auto found = captures_[bit].find(user);
      if (found == captures_[bit].end()) return;
      found->second.note_sender(process, now);
      if (found->second.has_several(now)) thresholds[bit] = found->second.at(now);
    });
    return thresholds;
  }

  // The captures of this span in which its trace would have a part missing.
  static CaptureBits torn(const StoredSpan& span, const Thresholds& thresholds) {
    CaptureBits torn = 0;
    if ((span.trace_high | span.trace_low) == 0) return torn;  // an event outside of any trace
    wire::for_each_bit(span.capture_bits, [&](std::size_t bit) {
      if (!wire::reaches_threshold(span.trace_low, thresholds[bit])) torn |= CaptureBits{1} << bit;
    });
    return torn;
  }

  // The bit is free.
  void forget(std::size_t bit) { captures_[bit].clear(); }

 private:
  // The greatest threshold since `since`, and in as long a time before; and whose spans come.
  struct Greatest {
    Instant since{};
    std::uint64_t current = 0;
    std::uint64_t before = 0;
    std::optional<wire::SessionId> sender{};  // the last one
    Instant several_until = Instant::min();

    void note(std::uint64_t threshold, Instant now) {
      if (now - since >= kHeld) {
        before = now - since < 2 * kHeld ? current : 0;
        current = 0;
        since = now;
      }
      current = std::max(current, threshold);
    }
    void note_sender(const wire::SessionId& process, Instant now) {
      if (sender.value_or(process) != process) several_until = now + kHeld;
      sender = process;
    }
    bool has_several(Instant now) const { return now < several_until; }
    std::uint64_t at(Instant now) const {
      if (now - since < kHeld) return std::max(current, before);
      return now - since < 2 * kHeld ? current : 0;
    }
  };

  std::array<std::map<std::string, Greatest>, wire::kMaxCaptures> captures_;
};

}  // namespace pcp::trace::agent
