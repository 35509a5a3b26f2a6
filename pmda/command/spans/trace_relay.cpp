// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/spans/trace_relay.hpp"

#include <algorithm>
#include <iterator>

namespace pcp::trace::command {

namespace {

constexpr char kIsBrought = '+';

bool is_trace(std::string_view word) {
  constexpr std::size_t kMostDigits = 16;
  if (word.ends_with(kIsBrought)) word.remove_suffix(1);
  return !word.empty() && word.size() <= kMostDigits &&
         word.find_first_not_of("0123456789abcdef") == word.npos;
}

}  // namespace

void TraceRelay::pass_on(std::size_t from, std::string_view text) {
  while (!text.empty()) {
    const std::string trace(text.substr(0, text.find(' ')));
    text.remove_prefix(std::min(text.size(), trace.size() + 1));
    if (!is_trace(trace) || !is_news(trace)) continue;
    for (std::size_t host = 0; host < hosts_.size(); ++host) {
      if (host == from) continue;
      hosts_[host].waiting.push_back(trace);
      make_room(hosts_[host]);
    }
  }
}

// Without the sign more monitors pass it on, so it is news although it is known with the sign.
bool TraceRelay::is_news(const std::string& trace) {
  if (trace.back() == kIsBrought && known_.contains(trace.substr(0, trace.size() - 1)))
    return false;
  if (!known_.insert(trace).second) return false;
  known_in_order_.push_back(trace);
  if (known_in_order_.size() > kMostKnown) {
    known_.erase(known_in_order_.front());
    known_in_order_.pop_front();
  }
  return true;
}

// The oldest goes: programs have held its parts the longest, and are the first to drop them.
void TraceRelay::make_room(Host& host) {
  for (; host.waiting.size() > kMostWaiting; host.waiting.pop_front()) host.has_lost = true;
}

TraceRelay::Traces TraceRelay::take(std::size_t host) {
  Traces& waiting = hosts_[host].waiting;
  const auto end =
      waiting.begin() + static_cast<std::ptrdiff_t>(std::min(waiting.size(), kMostAtOnce));
  Traces taken(std::make_move_iterator(waiting.begin()), std::make_move_iterator(end));
  waiting.erase(waiting.begin(), end);
  return taken;
}

void TraceRelay::put_back(std::size_t host, Traces traces) {
  Traces& waiting = hosts_[host].waiting;
  waiting.insert(waiting.begin(), std::make_move_iterator(traces.begin()),
                 std::make_move_iterator(traces.end()));
  make_room(hosts_[host]);
}

std::string text_of(const TraceRelay::Traces& traces) {
  std::string text;
  for (const std::string& trace : traces) text += (text.empty() ? "" : " ") + trace;
  return text;
}

}  // namespace pcp::trace::command
