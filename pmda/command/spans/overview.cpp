// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/clock.hpp"
#include "base/escape.hpp"
#include "command/interruption.hpp"
#include "command/pcp/pcp_host.hpp"
#include "command/pcp/pcp_values.hpp"
#include "command/pcp/recording_folder.hpp"
#include "command/show/shown.hpp"
#include "command/words.hpp"

namespace pcp::trace::command {

namespace {

struct Agent {
  std::string state;
  bool has_tags = false;
};

Agent ask_for_agent() {
  PcpHost host("local:");
  if (!host.connect()) return {"pmcd does not answer on this host; recording needs none"};
  if (lookup("trace.control.port") == PM_ID_NULL)
    return {"none on this host; recording needs none"};
  const auto tags = static_cast<std::uint64_t>(read_number("trace.agent.tags"));
  const auto clients = static_cast<std::uint64_t>(read_number("trace.agent.clients"));
  return {"on this host, with " + Shown::counted(tags, "tag") + " and " +
              Shown::counted(clients, "connected program"),
          tags > 0};
}

// Limits the wait, because libpcp has no limit.
Agent ask_in_time() {
  Interruption interruption;
  interruption.come_at(steady_now() + std::chrono::seconds(2));
  return interruption.result_of(ask_for_agent)
      .value_or(Agent{"pmcd does not answer in time on this host"});
}

std::string names_of(const std::vector<std::string>& recordings) {
  constexpr std::size_t kMostNames = 3;
  constexpr std::size_t kLongestName = 60;
  if (recordings.empty()) return "none in this directory";
  std::string names;
  for (std::size_t i = 0; i < std::min(recordings.size(), kMostNames); ++i)
    names += (i == 0 ? "" : ", ") + printable(recordings[i], kLongestName);
  if (recordings.size() > kMostNames)
    names += " and " + std::to_string(recordings.size() - kMostNames) + " more";
  return names;
}

}  // namespace

std::string overview() {
  const Agent agent = ask_in_time();
  const std::vector<std::string> recordings = recordings_in(".");
  std::string next;
  if (!recordings.empty())
    next += "\n  pcp-trace report                   the newest recording, once more";
  if (agent.has_tags)
    next += "\n  pcp-trace record -h local: -s 60s  what this host's agent shows, for a minute";
  return "agent       " + agent.state + "\nrecordings  " + names_of(recordings) +
         "\n\nNext:" + next +
         "\n  pcp-trace record ./your-program    run it, and keep what it traces"
         "\n  pcp-trace --help                   all words\n";
}

}  // namespace pcp::trace::command
