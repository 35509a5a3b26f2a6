// SPDX-License-Identifier: LGPL-2.1-or-later
// Logs lines about peers, which may be many and hostile: a limited number in ten seconds, then the
// number of lines left out.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "collector/engine/types.hpp"
#include "collector/ingest/peer.hpp"

namespace pcp::trace::agent {

// Writes one line to the agent's log.
using LogLine = void (*)(const std::string&);

// Escapes and shortens a peer's text for a log line.
std::string for_log(std::string_view text);

// Thread: the owner's.
class LimitedLog {
 public:
  static constexpr unsigned kMostLines = 20;
  static constexpr Duration kInterval = std::chrono::seconds(10);

  explicit LimitedLog(LogLine log) : log_(log) {}

  void say(const std::string& line, Instant now);
  void say(const Peer& peer, const std::string& what);

  // Logs how many lines were left out, once their interval is over. Call it from time to time.
  void catch_up(Instant now);

 private:
  LogLine log_;
  Instant began_{};
  unsigned said_ = 0;
  std::uint64_t left_out_ = 0;
};

}  // namespace pcp::trace::agent
