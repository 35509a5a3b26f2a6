// SPDX-License-Identifier: LGPL-2.1-or-later
#include "metrics/event_array.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "collector/spans/span_text.hpp"
#include "metrics/span_items.hpp"

namespace pcp::trace::agent {

namespace {

constexpr std::size_t kArrayHead = offsetof(pmEventArray, ea_record);
constexpr std::size_t kRecordHead = offsetof(pmEventRecord, er_param);
constexpr std::size_t kParameterHead = sizeof(pmEventParameter);

template <typename Head>
void append_head(std::string& bytes, const Head& head, std::size_t size) {
  std::array<char, sizeof(Head)> copy;
  std::memcpy(copy.data(), &head, sizeof head);
  bytes.append(copy.data(), size);
}

// Seconds and microseconds. Seconds are capped at 31 bits.
pmTimeval stamp(std::uint64_t ns) {
  constexpr std::uint64_t kLast = std::numeric_limits<std::int32_t>::max();
  pmTimeval time{};
  time.tv_sec = static_cast<std::int32_t>(std::min(ns / 1'000'000'000, kLast));
  time.tv_usec = static_cast<std::int32_t>(ns % 1'000'000'000 / 1000);
  return time;
}

// Appends records, one after the other.
class Records {
 public:
  explicit Records(int domain) : domain_(static_cast<unsigned>(domain)) {}

  void begin(std::uint64_t ns, unsigned flags) {
    begin_ = bytes_.size();
    pmEventRecord head{};
    head.er_timestamp = stamp(ns);
    head.er_flags = flags;
    append_head(bytes_, head, kRecordHead);
    parameters_ = 0;
  }

  void add(SpanItem item, std::string_view text) {
    add(item, PM_TYPE_STRING, text.data(), text.size());
  }
  void add(SpanItem item, std::uint32_t number) { add(item, PM_TYPE_U32, &number, sizeof number); }
  void add(SpanItem item, std::uint64_t number) { add(item, PM_TYPE_U64, &number, sizeof number); }
  void add(SpanItem item, double number) { add(item, PM_TYPE_DOUBLE, &number, sizeof number); }
  void add_if_any(SpanItem item, std::string_view text) {
    if (!text.empty()) add(item, text);
  }
  void add_if_any(SpanItem item, std::uint32_t number) {
    if (number != 0) add(item, number);
  }

  // Returns the begin and end of the record's bytes.
  std::pair<std::size_t, std::size_t> end() {
    std::memcpy(bytes_.data() + begin_ + offsetof(pmEventRecord, er_nparams), &parameters_,
                sizeof parameters_);
    return {begin_, bytes_.size()};
  }

  const std::string& bytes() const { return bytes_; }

 private:
  void add(SpanItem item, int type, const void* value, std::size_t size) {
    pmEventParameter head{};
    head.ep_pmid = pmID_build(domain_, kSpanCluster, item);
    head.ep_type = static_cast<unsigned char>(type);
    head.ep_len = (PM_VAL_HDR_SIZE + size) & PM_VAL_VLEN_MAX;
    append_head(bytes_, head, kParameterHead);
    bytes_.append(static_cast<const char*>(value), size);
    bytes_.append((4 - size % 4) % 4, '\0');  // pads to whole words
    ++parameters_;
  }

  unsigned domain_;
  std::string bytes_;
  std::size_t begin_ = 0;
  int parameters_ = 0;
};

void add_identity(Records& records, const StoredSpan& span) {
  records.add(kSpanParam, hex_of(span.span).data());
  if (span.parent != 0) records.add(kParentParam, hex_of(span.parent).data());
}

void add_trace_and_tag(Records& records, const StoredSpan& span) {
  if ((span.trace_high | span.trace_low) != 0)
    records.add(kTraceParam, hex_of(span.trace_high, span.trace_low).data());
  records.add(kTagParam, *span.tag);
}

// All data of a span, so that no reader needs its START record.
void add_rest(Records& records, const StoredSpan& span) {
  const SpanSource& source = *span.source;
  records.add(kKindParam, name_of(span.kind));
  records.add(kTimeParam, span.begin_ns);
  if (!wire::is_event(span.kind)) {
    records.add(kDurationParam, span.duration_ns);
    const bool was_open = (span.flags & wire::kWasOpen) != 0;
    records.add(kStatusParam, was_open ? "died" : span.aborted ? "aborted" : "ok");
    records.add_if_any(kReasonParam, span.reason);
  } else if (span.kind != wire::SpanKind::Point) {
    records.add(kValueParam, span.value);
  }
  records.add_if_any(kServiceParam, source.service);
  records.add_if_any(kProcessParam, source.process);
  records.add_if_any(kHostParam, source.host);
  records.add_if_any(kPidParam, source.pid);
  records.add_if_any(kTidParam, span.tid);
  records.add_if_any(kFlagsParam, span.flags);
  records.add_if_any(kAttributesParam, span.attributes);
  records.add_if_any(kLinksParam, span.links);
  records.add_if_any(kMissingParam, span.left_out);
}

// A record's bytes and its sort order: by time; at equal times parents begin before their children,
// and end after them.
struct Part {
  std::uint64_t ns;
  int rank;  // 0 begin, 1 event, 2 end
  std::uint64_t order;
  std::size_t from;
  std::size_t to;

  bool operator<(const Part& other) const {
    return std::tie(ns, rank, order) < std::tie(other.ns, other.rank, other.order);
  }
};

unsigned parent_flag(const StoredSpan& span) {
  return span.parent != 0 ? PM_EVENT_FLAG_PARENT : 0u;
}

Part begin_of(Records& records, const StoredSpan& span) {
  records.begin(span.begin_ns, PM_EVENT_FLAG_START | PM_EVENT_FLAG_ID | parent_flag(span));
  add_identity(records, span);
  add_trace_and_tag(records, span);
  const auto [from, to] = records.end();
  return {span.begin_ns, 0, ~span.duration_ns, from, to};
}

Part end_of(Records& records, const StoredSpan& span) {
  const std::uint64_t end_ns = span.begin_ns + span.duration_ns;
  records.begin(end_ns, PM_EVENT_FLAG_END | PM_EVENT_FLAG_ID | parent_flag(span));
  add_identity(records, span);
  add_trace_and_tag(records, span);
  add_rest(records, span);
  const auto [from, to] = records.end();
  return {end_ns, 2, ~span.begin_ns, from, to};
}

// An event's id is its span's id, if it is in a span.
Part point_of(Records& records, const StoredSpan& span) {
  const bool is_in_span = span.span != 0;
  records.begin(span.begin_ns,
                PM_EVENT_FLAG_POINT | (is_in_span ? PM_EVENT_FLAG_ID | parent_flag(span) : 0u));
  if (is_in_span) add_identity(records, span);
  add_trace_and_tag(records, span);
  add_rest(records, span);
  const auto [from, to] = records.end();
  return {span.begin_ns, 1, 0, from, to};
}

std::string missed_record(std::uint64_t missed, std::uint64_t ns) {
  if (missed == 0) return {};
  pmEventRecord head{};
  head.er_timestamp = stamp(ns);
  head.er_flags = PM_EVENT_FLAG_MISSED;
  head.er_nparams =
      static_cast<int>(std::min<std::uint64_t>(missed, std::numeric_limits<std::int32_t>::max()));
  std::string record;
  append_head(record, head, kRecordHead);
  return record;
}

}  // namespace

EventArray::EventArray(int domain, const SpanReading& reading, std::size_t most_bytes,
                       WallTime wall) {
  Records records(domain);
  std::vector<Part> parts;
  std::size_t bytes = 0;
  for (const auto& [key, number, span] : reading.entries) {
    const std::size_t before = parts.size();
    if (wire::is_event(span->kind)) {
      parts.push_back(point_of(records, *span));
    } else {
      parts.push_back(begin_of(records, *span));
      parts.push_back(end_of(records, *span));
    }
    if (taken_ > 0 && kArrayHead + kRecordHead + records.bytes().size() > most_bytes) {
      parts.resize(before);
      break;
    }
    bytes = records.bytes().size();
    ++taken_;
  }
  std::stable_sort(parts.begin(), parts.end());

  const auto now_ns = static_cast<std::uint64_t>(wall.time_since_epoch().count());
  const std::string missed =
      missed_record(reading.missed(taken_), parts.empty() ? now_ns : parts.front().ns);
  const std::size_t length = kArrayHead + missed.size() + bytes;
  memory_ = std::make_unique<char[]>(length);
  pmEventArray head{};
  head.ea_type = PM_TYPE_EVENT;
  head.ea_len = length & PM_VAL_VLEN_MAX;
  head.ea_nrecords = static_cast<int>(parts.size() + (missed.empty() ? 0 : 1));
  char* end = memory_.get();
  const auto append = [&end](const void* from, std::size_t size) {
    std::memcpy(end, from, size);
    end += size;
  };
  append(&head, kArrayHead);
  append(missed.data(), missed.size());
  for (const Part& part : parts) append(records.bytes().data() + part.from, part.to - part.from);
}

}  // namespace pcp::trace::agent
