// SPDX-License-Identifier: LGPL-2.1-or-later
// The longest captured transaction of each tag since the last reading, to stand beside the tag's
// distribution.
//
// Thread: any.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "base/mutex.hpp"
#include "command/pcp/recorded_metrics.hpp"
#include "command/run/span_trace.hpp"

namespace pcp::trace::command::otlp {

struct Exemplar {
  wire::TraceId trace{};
  std::uint64_t span = 0;
  std::uint64_t end_ns = 0;
  std::uint64_t duration_ns = 0;
};

class MetricExemplars {
 public:
  void note(const SpanTrace& trace) {
    const Lock lock(mutex_);
    for (const SpanEvent& span : trace.spans) {
      if (span.is_event() || span.was_open()) continue;
      const Key key(span.host, span.tag, span.aborted ? Ending::Failed : Ending::Completed);
      if (longest_.size() >= kMostTags && !longest_.contains(key)) continue;
      Exemplar& its = longest_[key];
      if (span.duration_ns >= its.duration_ns)
        its = {span.trace, span.span, span.end_ns(), span.duration_ns};
    }
  }

  std::optional<Exemplar> take(const std::string& host, const std::string& tag, Ending ending) {
    const Lock lock(mutex_);
    auto its = longest_.extract(Key(host, tag, ending));
    if (its.empty()) return {};
    return its.mapped();
  }

 private:
  using Key = std::tuple<std::string, std::string, Ending>;
  static constexpr std::size_t kMostTags = 10'000;

  Mutex mutex_;
  std::map<Key, Exemplar> longest_ TRACE_GUARDED_BY(mutex_);
};

}  // namespace pcp::trace::command::otlp
