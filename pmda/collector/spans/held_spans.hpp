// SPDX-License-Identifier: LGPL-2.1-or-later
// Spans that processes with parts of undecided traces leave behind at their end, until one of these
// traces is wanted. In bounded memory: without room, the user with most of it loses its oldest.
//
// A value type.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "collector/spans/stored_span.hpp"

namespace pcp::trace::agent {

struct HeldSpan {
  StoredSpan span;
  std::uint64_t trace = 0;   // the hash of its trace
  std::uint64_t number = 0;  // of the captures that its capture bits are of
  std::uint32_t uid = 0;
  std::string user;
};

class HeldSpans {
 public:
  static constexpr std::size_t kMostBytes = 8u << 20;
  static constexpr Duration kHeldFor = std::chrono::minutes(1);

  void hold(HeldSpan span, Instant now) {
    forget_old(now);
    auto& [user, its] = *users_.try_emplace(span.user).first;
    const std::size_t bytes = bytes_of(span.span);
    its.spans.push_back({std::move(span), bytes, now});
    const auto last = std::prev(its.spans.end());
    by_trace_.emplace(last->trace, last);
    its.bytes += bytes;
    bytes_ += bytes;
    while (bytes_ > kMostBytes) {
      const auto most =
          std::ranges::max_element(users_, {}, [](const auto& each) { return each.second.bytes; });
      forget(most->second, most->second.spans.begin());
    }
  }

  // Removes and gives all of this trace.
  std::vector<HeldSpan> take(std::uint64_t trace) {
    std::vector<HeldSpan> taken;
    for (auto found = by_trace_.find(trace); found != by_trace_.end();
         found = by_trace_.find(trace)) {
      taken.push_back(*found->second);
      forget(users_.at(taken.back().user), found->second);
    }
    return taken;
  }

 private:
  struct Kept : HeldSpan {
    std::size_t bytes = 0;
    Instant since{};
  };
  using Spans = std::list<Kept>;
  struct User {
    Spans spans;  // the oldest first
    std::size_t bytes = 0;
  };

  static std::size_t bytes_of(const StoredSpan& span) {
    constexpr std::size_t kAround = 96;  // of two containers
    return sizeof(Kept) + kAround + span.attributes.size() + span.links.size() + span.reason.size();
  }

  void forget(User& user, Spans::iterator span) {
    auto found = by_trace_.find(span->trace);
    while (found->second != span) ++found;
    by_trace_.erase(found);
    user.bytes -= span->bytes;
    bytes_ -= span->bytes;
    user.spans.erase(span);
  }

  void forget_old(Instant now) {
    for (auto& [name, user] : users_)
      while (!user.spans.empty() && now - user.spans.front().since > kHeldFor)
        forget(user, user.spans.begin());
    std::erase_if(users_, [](const auto& each) { return each.second.spans.empty(); });
  }

  std::map<std::string, User> users_;
  std::multimap<std::uint64_t, Spans::iterator> by_trace_;
  std::size_t bytes_ = 0;
};

}  // namespace pcp::trace::agent
