// SPDX-License-Identifier: LGPL-2.1-or-later
// Arrays of events for tests, packed by our agent's code.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "command/pcp/sample.hpp"
#include "metrics/event_array.hpp"
#include "metrics/span_items.hpp"
#include "support/span_reading.hpp"

namespace pcp::trace::command {

inline constexpr int kEventDomain = 10;
inline const pmID kEvents = pmID_build(kEventDomain, agent::kSpanCluster, agent::kEventsItem);

struct MadeSpan {
  std::string tag;
  std::uint64_t id = 1;
  std::uint64_t parent = 0;
  std::uint64_t begin_ns = 0;
  std::uint64_t duration_ns = 1'000'000;
  std::uint64_t trace = 1;
  std::string attributes{};
  bool aborted = false;
  std::uint32_t flags = 0;
};

// A value of the metric, valid as long as this object.
class MadeEvents {
 public:
  explicit MadeEvents(const std::vector<MadeSpan>& spans, std::uint64_t missed = 0)
      : array_(kEventDomain, reading_of(spans, missed), std::size_t{8} << 20,
               WallTime(std::chrono::seconds(1'800'000'000))) {}

  pmValueBlock* block() const { return array_.get(); }

  Sample sample() const {
    pmValue value{};
    value.inst = static_cast<int>(PM_IN_NULL);
    value.value.pval = block();
    return {{kEvents, PM_VAL_DPTR, {value}}};
  }

 private:
  static agent::SpanReading reading_of(const std::vector<MadeSpan>& spans, std::uint64_t missed) {
    const auto source =
        std::make_shared<const agent::SpanSource>(agent::SpanSource{4711, "shop", "", ""});
    std::vector<agent::StoredSpan> stored;
    for (const MadeSpan& made : spans) {
      agent::StoredSpan& span = stored.emplace_back();
      span.tag = std::make_shared<const std::string>(made.tag);
      span.source = source;
      span.span = made.id;
      span.parent = made.parent;
      span.trace_low = made.trace;
      span.begin_ns = made.begin_ns;
      span.duration_ns = made.duration_ns;
      span.attributes = made.attributes;
      span.aborted = made.aborted;
      span.flags = made.flags;
      span.value = 0.1;
    }
    return agent::reading_of(stored, missed);
  }

  agent::EventArray array_;
};

inline pmDesc described_events() {
  pmDesc metric{};
  metric.pmid = kEvents;
  metric.type = PM_TYPE_EVENT;
  metric.indom = PM_INDOM_NULL;
  metric.sem = PM_SEM_INSTANT;
  return metric;
}

}  // namespace pcp::trace::command
