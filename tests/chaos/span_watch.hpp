// SPDX-License-Identifier: LGPL-2.1-or-later
// The monitors of a schedule, and the spans that they have seen: two from the beginning of each
// agent to its end, one of them slow, and others that come and go.
//
// Each span that a monitor sees was captured, comes once, and has the right parent. Each span that
// the first two do not see is reported to them as missed.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "chaos/client.hpp"
#include "chaos/judge.hpp"
#include "chaos/random.hpp"
#include "stress/agent_host.hpp"

namespace pcp::trace::chaos {

struct WatchFigures {
  std::uint64_t captured = 0;  // transactions, by the ledger
  std::uint64_t seen = 0;      // by the first monitor
  std::uint64_t missed = 0;    // by the first two monitors
  std::uint64_t others = 0;    // monitors that came and went
};

class SpanWatch {
 public:
  SpanWatch(AgentHost& agent, Random random);

  // Both while no client is connected; end_life() may also follow the agent's stop.
  void begin_life();
  void end_life(const Complain& complain);

  // Call this now and then.
  void step();

  // Call this last. `is_one_life`: there was only one agent.
  void judge(const std::vector<ClientPlan>& plans, Ledger& ledger, bool is_one_life,
             const Complain& complain);

  const WatchFigures& figures() const { return figures_; }

 private:
  static constexpr std::size_t kMonitors = 5;
  enum : std::size_t { kFast, kSlow, kSame, kOther, kShare };

  struct Monitor {
    std::string filter;
    std::uint8_t asked = 0;
    bool is_open = false;
    std::uint64_t missed = 0;
    std::uint64_t seen_in_life = 0;
    std::uint64_t missed_in_life = 0;
    std::vector<AgentHost::Span> seen;
  };

  bool is_permanent(std::size_t number) const { return number <= kSlow; }
  void open(std::size_t number);
  void close(std::size_t number);
  bool read(std::size_t number, std::size_t most);  // true if there is more
  void read_all(std::size_t number);
  void judge_seen(std::size_t number, const std::unordered_map<std::uint64_t, SpanEntry*>& known,
                  const Complain& complain);
  void judge_missed(std::size_t number, const std::vector<ClientPlan>& plans, Ledger& ledger,
                    const Complain& complain);

  AgentHost& agent_;
  Random random_;
  bool others_come_;
  std::size_t span_bytes_;
  std::array<Monitor, kMonitors> monitors_;
  WatchFigures figures_;
};

}  // namespace pcp::trace::chaos
