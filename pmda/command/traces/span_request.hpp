// SPDX-License-Identifier: LGPL-2.1-or-later
// Requests spans from a host's trace agent, in libpcp's current context.
//
// Thread: the context's.
#pragma once

#include <string>

#include "base/result.hpp"
#include "metrics/pmapi.hpp"

namespace pcp::trace::command {

// The metrics to fetch afterwards.
struct SpanMetrics {
  pmID events = PM_ID_NULL;
  pmID backlog = PM_ID_NULL;
  pmID uptime = PM_ID_NULL;  // falls when the agent restarts
};

// Checks that pmcd has a trace agent; the error says what is missing.
Result<void> find_agent();

// The context gets matching spans from now on. An error says why the agent refuses.
Result<SpanMetrics> ask_for_spans(const std::string& filter);

}  // namespace pcp::trace::command
