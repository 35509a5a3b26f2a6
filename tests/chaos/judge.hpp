// SPDX-License-Identifier: LGPL-2.1-or-later
// Compares what the programs of a schedule recorded with what the agents counted.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "chaos/client.hpp"
#include "stress/agent_host.hpp"

namespace pcp::trace::chaos {

// Hears of each disagreement.
using Complain = std::function<void(const std::string&)>;

// `agents` are the totals of one agent after the other; the last one was there at the end. Gives
// how many clients have lost something because they gave up at their end.
std::size_t judge(const std::vector<ClientPlan>& plans, Ledger& ledger,
                  const std::vector<AgentHost::Totals>& agents, const Complain& complain);

}  // namespace pcp::trace::chaos
