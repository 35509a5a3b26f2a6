// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/record/event_writer.hpp"

#include <chrono>
#include <optional>

#include "command/pcp/span_event.hpp"
#include "metrics/event_array.hpp"

namespace pcp::trace::command {

namespace {

// A limit, in case events come faster than they are read.
constexpr int kMostReadings = 2000;

// An array with only a count of missed events. It has no parameters, so no agent's domain.
agent::EventArray missed_events(Stamp at, std::uint64_t missed) {
  agent::SpanReading reading;
  reading.is_all = true;
  reading.to.missed = missed;
  return {0, reading, 0,
          WallTime(std::chrono::seconds(at.seconds) + std::chrono::nanoseconds(at.nanoseconds))};
}

}  // namespace

Result<void> EventWriter::drain(Stamp at, Instant now) {
  for (int i = 0; i < kMostReadings; ++i) {
    const Result<RecordedAgent::Events> events = agent_.read_events(now);
    if (!events) return events.error();
    if (!events->sample.empty() && !events->sample.front().values.empty()) take(at, events->sample);
    if (!events->has_more) break;
  }
  return {};
}

void EventWriter::take(Stamp at, const Sample& sample) {
  const MetricValues& its = sample.front();
  const pmValueBlock& array = *its.values.front().value.pval;
  const std::optional<SpanNews> news = read_events(array);
  if (!news || (news->spans.empty() && news->missed == 0)) return;
  if (bytes_ + array.vlen <= most_bytes_) {
    bytes_ += array.vlen;
    return writer_.add_sample(at, sample);
  }
  left_out_ += news->spans.size();
  write_missed(at, its.metric, news->missed + news->spans.size());
}

void EventWriter::write_missed(Stamp at, pmID metric, std::uint64_t missed) {
  const agent::EventArray events = missed_events(at, missed);
  pmValue value{};
  value.inst = static_cast<int>(PM_IN_NULL);
  value.value.pval = events.get();
  writer_.add_sample(at, {{metric, PM_VAL_DPTR, {value}}});
}

}  // namespace pcp::trace::command
