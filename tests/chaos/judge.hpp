// SPDX-License-Identifier: LGPL-2.1-or-later
// Compares the calls of a schedule's programs with the agents' counts.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "chaos/client.hpp"
#include "stress/agent_host.hpp"

namespace pcp::trace::chaos {

// Receives each difference.
using Complain = std::function<void(const std::string&)>;

// `agents`: the totals of each agent in order; the last one was there at the end. Gives the number
// of clients that gave up at their end and lost calls.
std::size_t judge(const std::vector<ClientPlan>& plans, Ledger& ledger,
                  const std::vector<AgentHost::Totals>& agents, const Complain& complain);

}  // namespace pcp::trace::chaos
