// SPDX-License-Identifier: LGPL-2.1-or-later
// A host's pmcd and its trace agent, asked for spans by libpcp. All of it may wait for as long as
// PCP's time-outs say.
//
// Thread: one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "command/spans/host_facts.hpp"
#include "command/traces/span_event.hpp"
#include "command/traces/span_request.hpp"
#include "wire/result.hpp"

namespace pcp::trace::command {

class SpanHost {
 public:
  // `name` is as PCP's tools take it.
  explicit SpanHost(std::string name) : name_(std::move(name)) {}
  ~SpanHost();
  SpanHost(const SpanHost&) = delete;
  SpanHost& operator=(const SpanHost&) = delete;

  // Connects, if it is not.
  Result<void> connect();

  // As pmcd knows itself. Requires: it was connected once.
  const std::string& host_name() const { return host_name_; }

  // Asks for spans that match. Requires: it is connected.
  Result<void> ask_for(const std::string& filter);

  struct Fetched {
    SpanNews news;
    std::uint32_t backlog = 0;  // more is there already
    bool must_ask_again = false;
    bool is_of_another = false;  // agent than before
  };

  // Gives what is new. After an error it has to be connected again, and asked.
  Result<Fetched> fetch();

  // Why nothing may have come.
  HostFacts facts();

 private:
  const std::string name_;
  std::string host_name_;
  int context_ = -1;
  bool is_lost_ = false;
  SpanMetrics metrics_;
  double uptime_s_ = 0;  // of the agent, when it was read last
};

}  // namespace pcp::trace::command
