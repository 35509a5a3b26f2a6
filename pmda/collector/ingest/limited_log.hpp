// SPDX-License-Identifier: LGPL-2.1-or-later
// Lines about peers, which may be many and hostile: so many in ten seconds and no more; then how
// many were left out.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "collector/engine/types.hpp"

namespace pcp::trace::agent {

// Says one line to the agent's log.
using LogLine = void (*)(const std::string&);

// Text from a peer, fit for a line of a log: escaped, cut if long.
std::string for_log(std::string_view text);

// Thread: its owner's.
class LimitedLog {
 public:
  static constexpr unsigned kMostLines = 20;
  static constexpr Time kInterval = std::chrono::seconds(10);

  explicit LimitedLog(LogLine log) : log_(log) {}

  void say(const std::string& line, Time now);

  // Tells how many lines were left out once their interval is over. Call it now and then.
  void catch_up(Time now);

 private:
  LogLine log_;
  Time began_{};
  unsigned said_ = 0;
  std::uint64_t left_out_ = 0;
};

}  // namespace pcp::trace::agent
