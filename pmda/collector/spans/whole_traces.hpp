// SPDX-License-Identifier: LGPL-2.1-or-later
// The share of traces that all processes of a capture take. A process over its limit= takes a
// smaller share of the trace ids, and says so. Nobody wants the traces that it leaves out from other
// processes: these traces would be shown with a part missing.
//
// A process speaks for its user only: nobody can hide another user's traces.
//
// A value type.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "base/clock.hpp"
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

  // The threshold that traces of this user must reach now to be whole.
  std::uint64_t threshold(std::size_t bit, const std::string& user, Instant now) const {
    const auto found = captures_[bit].find(user);
    return found == captures_[bit].end() ? 0 : found->second.at(now);
  }

  // The bit is free.
  void forget(std::size_t bit) { captures_[bit].clear(); }

 private:
  // The greatest threshold since `since`, and in as long a time before.
  struct Greatest {
    Instant since{};
    std::uint64_t current = 0;
    std::uint64_t before = 0;

    void note(std::uint64_t threshold, Instant now) {
      if (now - since >= kHeld) *this = {now, 0, now - since < 2 * kHeld ? current : 0};
      current = std::max(current, threshold);
    }
    std::uint64_t at(Instant now) const {
      if (now - since < kHeld) return std::max(current, before);
      return now - since < 2 * kHeld ? current : 0;
    }
  };

  std::array<std::map<std::string, Greatest>, wire::kMaxCaptures> captures_;
};

}  // namespace pcp::trace::agent
