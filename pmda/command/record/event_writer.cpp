// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/record/event_writer.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <optional>

#include "command/pcp/span_event.hpp"

namespace pcp::trace::command {

namespace {

// A limit, in case events come faster than they are read.
constexpr int kMostReadings = 2000;

// An array with only a count of missed events.
class MissedEvents {
 public:
  MissedEvents(Stamp at, std::uint64_t missed) {
    pmEventArray head{};
    head.ea_type = PM_TYPE_EVENT;
    head.ea_len = kBytes;
    head.ea_nrecords = 1;
    pmEventRecord record{};
    record.er_timestamp = {static_cast<std::int32_t>(at.seconds), at.nanoseconds / 1000};
    record.er_flags = PM_EVENT_FLAG_MISSED;
    record.er_nparams =
        static_cast<int>(std::min<std::uint64_t>(missed, std::numeric_limits<std::int32_t>::max()));
    std::memcpy(bytes_.data(), &head, kHead);
    std::memcpy(bytes_.data() + kHead, &record, kRecord);
  }

  pmValueBlock* block() { return reinterpret_cast<pmValueBlock*>(bytes_.data()); }

 private:
  static constexpr std::size_t kHead = offsetof(pmEventArray, ea_record);
  static constexpr std::size_t kRecord = offsetof(pmEventRecord, er_param);
  static constexpr std::size_t kBytes = kHead + kRecord;
  alignas(pmEventArray) std::array<char, kBytes> bytes_{};
};

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
  MissedEvents events(at, missed);
  pmValue value{};
  value.inst = static_cast<int>(PM_IN_NULL);
  value.value.pval = events.block();
  writer_.add_sample(at, {{metric, PM_VAL_DPTR, {value}}});
}

}  // namespace pcp::trace::command
