// SPDX-License-Identifier: LGPL-2.1-or-later
// The traces that programs of one host want whole, until the other hosts are told. Each host is
// told of each trace once, as far as the last ones are remembered.
//
// A value type. Traces are words of tracing.wanted: hashes, with a sign if a monitor brought them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

namespace pcp::trace::command {

class TraceRelay {
 public:
  // Limits: traces that wait for a host, that are told at once, and that are remembered.
  static constexpr std::size_t kMostWaiting = 4'096;
  static constexpr std::size_t kMostAtOnce = 500;
  static constexpr std::size_t kMostKnown = 16'384;

  using Traces = std::deque<std::string>;

  explicit TraceRelay(std::size_t hosts) : hosts_(hosts) {}

  // This host's programs want these. A word that is no trace is ignored: it would spoil the others.
  void pass_on(std::size_t from, std::string_view text);

  // Gives the traces to tell the host next; none: no more.
  Traces take(std::size_t host);
  // The host cannot take these now.
  void put_back(std::size_t host, Traces traces);
  // The host did not take some.
  void note_lost(std::size_t host) { hosts_[host].has_lost = true; }

  // Gives whether the host was not told of some since the last call: parts are missing there.
  bool take_lost(std::size_t host) { return std::exchange(hosts_[host].has_lost, false); }

 private:
  struct Host {
    Traces waiting{};
    bool has_lost = false;
  };

  bool is_news(const std::string& trace);
  static void make_room(Host& host);

  std::vector<Host> hosts_;
  std::unordered_set<std::string> known_;
  std::deque<std::string> known_in_order_;
};

// The value of tracing.wanted that has these.
std::string text_of(const TraceRelay::Traces& traces);

}  // namespace pcp::trace::command
