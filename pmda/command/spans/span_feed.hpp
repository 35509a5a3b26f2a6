// SPDX-License-Identifier: LGPL-2.1-or-later
// Spans of several hosts as they come. Each host has its own thread, because libpcp may wait long
// for a silent host. The threads are never joined, so they share ownership of their data.
//
// Thread: the main one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "command/pcp/span_event.hpp"
#include "command/show/explanation.hpp"

namespace pcp::trace::command {

// News from a host's thread.
struct HostNews {
  std::size_t host = 0;
  std::vector<SpanEvent> spans{};
  std::uint64_t missed = 0;
  std::uint64_t waiting = 0;         // after the last fetch, at the agent
  std::string told{};                // not empty: for the user, after the host's name
  bool has_gap = false;              // more are missing, in unknown number
  bool is_over = false;              // no more news will come
  std::optional<HostFacts> facts{};  // no spans for a while
};

class SpanFeed {
 public:
  // `filter` is in canonical form.
  SpanFeed(const std::vector<std::string>& hosts, const std::string& filter);

  // Ends the captures soon, and does not wait for the hosts.
  ~SpanFeed();
  SpanFeed(const SpanFeed&) = delete;
  SpanFeed& operator=(const SpanFeed&) = delete;

  // Readable when there is news to take.
  int descriptor() const;

  std::vector<HostNews> take();

  // Fetches from each host once more. Gives the last news, with what still waits; a host that does
  // not answer within a second has none.
  std::vector<HostNews> finish();

  struct Queue;  // shared with the threads

 private:
  std::shared_ptr<Queue> queue_;
};

}  // namespace pcp::trace::command
