// SPDX-License-Identifier: LGPL-2.1-or-later
// Spans of several hosts, as they come. Each host has a thread of its own, for libpcp may wait long
// for one that does not answer, and the others go on meanwhile. Nobody waits for these threads:
// what they use is theirs as well.
//
// Thread: the main one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "command/spans/host_facts.hpp"
#include "command/traces/span_event.hpp"

namespace pcp::trace::command {

// What a host's thread has to say.
struct HostNews {
  std::size_t host = 0;
  std::vector<SpanEvent> spans;
  std::uint64_t missed = 0;
  std::string trouble;             // not empty: it has gone, and why
  bool is_back = false;            // after trouble
  bool has_new_agent = false;      // which came without trouble
  bool is_mute = false;            // it has not answered for a while; nothing else is known
  bool is_over = false;            // no more will come of it
  std::optional<HostFacts> facts;  // nothing has come for a while
};

class SpanFeed {
 public:
  // `filter` is canonical.
  SpanFeed(const std::vector<std::string>& hosts, const std::string& filter);

  // Can be read when there is something to take.
  int descriptor() const;

  std::vector<HostNews> take();

  struct Queue;  // what the threads share

 private:
  std::shared_ptr<Queue> queue_;
};

}  // namespace pcp::trace::command
