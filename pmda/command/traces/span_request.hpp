// SPDX-License-Identifier: LGPL-2.1-or-later
// Asks a host's trace agent for spans: that to which the current context of libpcp leads.
//
// Thread: that which has the context.
#pragma once

#include <pcp/pmapi.h>

#include <string>

#include "wire/result.hpp"

namespace pcp::trace::command {

// What one fetches then.
struct SpanMetrics {
  pmID events = PM_ID_NULL;
  pmID backlog = PM_ID_NULL;
  pmID uptime = PM_ID_NULL;  // falls when the agent was started anew
};

// Whether pmcd has a trace agent; the error says what is missing.
Result<void> find_agent();

// The context gets those that match, from now on. An error says why the agent will not have it.
Result<SpanMetrics> ask_for_spans(const std::string& filter);

}  // namespace pcp::trace::command
