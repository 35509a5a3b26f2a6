// SPDX-License-Identifier: LGPL-2.1-or-later
// A host's pmcd and trace agent, asked for spans through libpcp. Every call may wait as long as
// PCP's time-outs.
//
// Thread: one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "command/spans/host_facts.hpp"
#include "command/traces/span_event.hpp"
#include "command/traces/span_request.hpp"

namespace pcp::trace::command {

class SpanHost {
 public:
  // `name` in the form of PCP's tools.
  explicit SpanHost(std::string name) : name_(std::move(name)) {}
  ~SpanHost();
  SpanHost(const SpanHost&) = delete;
  SpanHost& operator=(const SpanHost&) = delete;

  // Connects if not connected.
  Result<void> connect();

  // The name that pmcd gives. Requires: connect() succeeded once.
  const std::string& host_name() const { return host_name_; }

  // Requests matching spans. Requires: connected.
  Result<void> ask_for(const std::string& filter);

  struct Fetched {
    SpanNews news;
    std::uint32_t backlog = 0;  // more is waiting
    bool must_ask_again = false;
    bool is_of_another = false;  // the agent was restarted
  };

  // Gives new spans. After an error, call connect() and ask_for() again.
  Result<Fetched> fetch();

  // Facts to explain missing spans.
  HostFacts facts();

 private:
  const std::string name_;
  std::string host_name_;
  int context_ = -1;
  bool is_lost_ = false;
  SpanMetrics metrics_;
  double uptime_s_ = 0;  // the agent's last uptime
};

}  // namespace pcp::trace::command
