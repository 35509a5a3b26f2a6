// SPDX-License-Identifier: LGPL-2.1-or-later
// Finds out how the slowest requests differ from the others. All traces come twice. The first time
// decides which requests are the slowest, and which notes may be frequent; the second time counts.
// So the numbers are exact in bounded memory.
//
// Thread: one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "command/pcp/recorded_metrics.hpp"
#include "command/run/label_choice.hpp"
#include "command/run/requests.hpp"
#include "command/run/span_trace.hpp"

namespace pcp::trace::command {

class WhySlow {
 public:
  // `times_of`: only requests with this end. `most`: of the slowest.
  WhySlow(const LabelChoice& choice, std::optional<Ending> times_of, std::size_t most = 1'000)
      : choice_(choice), times_of_(times_of), most_(most) {}

  // The first time of each trace.
  void choose(const SpanTrace& trace);

  // Ends the first time. False: there is nothing to count.
  bool decide();

  // The second time.
  void count(const SpanTrace& trace);

  // Traces that lack spans, and requests of further tags: they are nowhere else.
  std::uint64_t left_out() const { return left_out_; }

  // The tag with the most time first.
  std::vector<Requests> take();

 private:
  using Tree = std::span<const Node>;                       // a request, and all that is inside
  using Rank = std::array<std::uint64_t, 3>;                // a number, and the ids of the request
  using Sample = std::map<Rank, std::vector<std::size_t>>;  // traits of requests, as hashes
  struct Trait : RequestTrait {
    std::uint64_t last = 0;  // the request that was counted last
  };
  struct Counted {
    Sample slowest;
    Sample failed;
    std::uint64_t chosen = 0;  // requests, the first time
    Requests requests;
    std::map<std::string, OfGroups, std::less<>> steps;
    std::unordered_map<std::size_t, Trait> traits;  // that may be frequent, by hash
  };

  // Gives the number of requests that were left out.
  template <typename Take>
  std::uint64_t for_each_request(const SpanTrace& trace, Take take);
  static void count_request(Counted& counted, Tree tree);

  const LabelChoice choice_;
  const std::optional<Ending> times_of_;
  const std::size_t most_;
  std::map<std::string, Counted> tags_;
  std::uint64_t left_out_ = 0;
};

}  // namespace pcp::trace::command
