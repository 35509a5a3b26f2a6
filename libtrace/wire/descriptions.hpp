// SPDX-License-Identifier: LGPL-2.1-or-later
// The fields of each message of trace.proto, for encoder and decoder.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "wire/batch.hpp"
#include "wire/events.hpp"
#include "wire/message.hpp"

namespace pcp::trace::wire {

template <>
struct Description<std::pair<std::string, std::string>> {
  [[gnu::always_inline]] static bool fields(auto& field, auto& label) {
    return field.always(1, label.first) || field.always(2, label.second);
  }
};

template <>
struct Description<Hello> {
  [[gnu::always_inline]] static bool fields(auto& field, auto& hello) {
    return field.bytes(1, hello.session) || field(2, hello.pid) || field.always(3, hello.process) ||
           field.always(4, hello.service) || field(5, hello.labels);
  }
  static bool is_valid(const Hello& hello) { return hello.session != SessionId{}; }
};

template <>
struct Description<Capture> {
  [[gnu::always_inline]] static bool fields(auto& field, auto& capture) {
    return field(1, capture.id) || field(2, capture.bit) || field(3, capture.filter) ||
           field(4, capture.reasons);
  }
  static bool is_valid(const Capture& capture);
};

template <>
struct Description<Control> {
  [[gnu::always_inline]] static bool fields(auto& field, auto& control) {
    return field(1, control.number) || field(2, control.captures) ||
           field(3, control.most_a_second, kAnyRate);
  }
  static bool is_valid(Control& control);
};

template <>
struct Description<Welcome> {
  [[gnu::always_inline]] static bool fields(auto& field, auto& welcome) {
    return field.fixed(1, welcome.agent_instance) || field(2, welcome.session_known) ||
           field(3, welcome.last_sequence) || field(4, welcome.max_pdu_bytes) ||
           field(5, welcome.max_tags) || field.bits(6, welcome.features) ||
           field(7, welcome.last_events) || field(8, welcome.control);
  }
  static bool is_valid(Welcome& welcome);
};

template <>
struct Description<TagDefinition> {
  [[gnu::always_inline]] static bool fields(auto& field, auto& tag) {
    return field(1, tag.id) || field.always(2, tag.name) || field(4, tag.unit) ||
           field(5, tag.description);
  }
  static bool is_valid(const TagDefinition& tag) { return is_tag(tag.name); }
};

template <typename List>
struct TagList {
  List& tags;
};

template <typename List>
struct Description<TagList<List>> {
  [[gnu::always_inline]] static bool fields(auto& field, auto& message) {
    return field(1, message.tags);
  }
};

template <>
struct Description<ClientCounters> {
  [[gnu::always_inline]] static bool fields(auto& field, auto& counters) {
    return field(1, counters.recorded) || field(2, counters.sent) || field(3, counters.merged) ||
           field(4, counters.thinned) || field(5, counters.uncertain) ||
           field(6, counters.reconnects) || field(7, counters.folded);
  }
};

template <>
struct Description<OpenCount> {
  [[gnu::always_inline]] static bool fields(auto& field, auto& count) {
    return field.always(1, count.tag_id) ||  // also 0: empty messages are not written
           field(2, count.open) || field(3, count.oldest_ns) || field(4, count.tid);
  }
  static bool is_valid(const OpenCount& count) {
    return count.open <= kMaxOpen && count.oldest_ns <= kMaxOpenAgeNs;
  }
};

// A delta on its way in or out, without the numbers that equal `last`. A received one is read into
// its entry; one to be sent has a histogram that packs itself.
struct ReceivedDelta {
  DeltaEntry& entry;
  double& last = entry.delta.last;
  std::string_view& histogram = entry.histogram;
  std::optional<double> sum{};
  std::optional<double> min{};
  std::optional<double> max{};
  std::string_view& failed_histogram = entry.failed_histogram;
  std::optional<double> failed_sum{};
  std::optional<double> failed_min{};
  std::optional<double> failed_max{};
};

struct SentDelta {
  DeltaEntry entry;
  std::optional<double> last{};
  const Histogram* histogram = nullptr;
  std::optional<double> sum{};
  std::optional<double> min{};
  std::optional<double> max{};
  const Histogram* failed_histogram = nullptr;
  std::optional<double> failed_sum{};
  std::optional<double> failed_min{};
  std::optional<double> failed_max{};
};

struct DeltaDescription {
  [[gnu::always_inline]] static bool fields(auto& field, auto& sent) {
    auto& [entry, last, histogram, sum, min, max, failed_histogram, failed_sum, failed_min,
           failed_max] = sent;
    return field(1, entry.tag_id) || field(2, entry.type) || field(3, entry.delta.count) ||
           field(4, entry.failed.count) || field(5, entry.delta.nonfinite) || field(6, last) ||
           field(7, sum) || field(8, min) || field(9, max) || field(10, histogram) ||
           field(11, entry.is_added) || field(12, failed_sum) || field(13, failed_min) ||
           field(14, failed_max) || field(15, failed_histogram);
  }
};

template <>
struct Description<SentDelta> : DeltaDescription {};

template <>
struct Description<ReceivedDelta> : DeltaDescription {
  // Inlined, g++ would warn of an uninitialized sum that it does not read.
  [[gnu::noinline]] static bool is_valid(ReceivedDelta& received);
};

template <>
struct Description<DeltaEntry> {
  static bool read(std::string_view payload, DeltaEntry& entry) {
    ReceivedDelta received{entry};
    return read_message(payload, received);
  }
};

template <>
struct Description<Batch> {
  [[gnu::always_inline]] static bool fields(auto& field, auto& batch) {
    return field(1, batch.sequence) || field(2, batch.age.first_ns) ||
           field(3, batch.age.last_ns) || field(4, batch.counters) ||
           field(kInFlight, batch.in_flight) || field(7, batch.in_flight_anew) ||
           field(kEntries, batch.entries);
  }
  static constexpr FieldNumber kEntries = 5;
  static constexpr FieldNumber kInFlight = 6;
  static bool is_valid(const Batch& batch) {
    return batch.sequence > 0 && batch.age.last_ns <= batch.age.first_ns;
  }
};

// BATCH_ACK and EVENTS_ACK.
struct Acknowledgement {
  std::uint64_t sequence = 0;
};

template <>
struct Description<Acknowledgement> {
  [[gnu::always_inline]] static bool fields(auto& field, auto& ack) {
    return field(1, ack.sequence);
  }
  static bool is_valid(const Acknowledgement& ack) { return ack.sequence > 0; }
};

struct Bye {
  ByeReason reason{};
};

inline std::optional<std::uint64_t> decoded_sequence(std::string_view payload) {
  const auto ack = decoded<Acknowledgement>(payload);
  if (!ack) return std::nullopt;
  return ack->sequence;
}

template <>
struct Description<Bye> {
  [[gnu::always_inline]] static bool fields(auto& field, auto& bye) { return field(1, bye.reason); }
};

template <>
struct Description<CaptureCount> {
  [[gnu::always_inline]] static bool fields(auto& field, auto& count) {
    return field(1, count.capture) || field(2, count.captured) || field(3, count.missed_full) ||
           field(4, count.missed_limit) || field(5, count.missed_waiting) ||
           field(6, count.missed_away) || field(7, count.threshold);
  }
  static bool is_valid(const CaptureCount& count);
};

template <>
struct Description<SpanAttribute> {
  [[gnu::always_inline]] static bool fields(auto& field, auto& attribute) {
    return field(1, attribute.key) || field(2, attribute.text) || field(3, attribute.number);
  }
  static bool is_valid(const SpanAttribute& attribute);
};

template <>
struct Description<SpanLink> {
  [[gnu::always_inline]] static bool fields(auto& field, auto& link) {
    return field.fixed(1, link.trace.high) || field.fixed(2, link.trace.low) ||
           field.fixed(3, link.span);
  }
  static bool is_valid(const SpanLink& link) { return link.trace.is_set() && link.span != 0; }
};

template <>
struct Description<Span> {
  [[gnu::always_inline]] static bool fields(auto& field, auto& span) {
    return field(1, span.tag_id) || field(2, span.kind) || field.fixed(3, span.begin_ns) ||
           field(4, span.duration_ns) || field.fixed(5, span.trace.high) ||
           field.fixed(6, span.trace.low) || field.fixed(7, span.span) ||
           field.fixed(8, span.parent) || field(9, span.flags) || field(10, span.tid) ||
           field(11, span.capture_bits) || field(12, span.aborted) || field(13, span.reason) ||
           field(14, span.attributes) || field(15, span.links) || field(16, span.left_out) ||
           field(17, span.value);
  }
  static bool is_valid(const Span& span);
};

template <>
struct Description<WantedTrace> {
  [[gnu::always_inline]] static bool fields(auto& field, auto& wanted) {
    return field.fixed(1, wanted.hash) || field(2, wanted.capture_bits);
  }
  static bool is_valid(const WantedTrace& wanted) { return wanted.capture_bits != 0; }
};

template <typename List>
struct WantedList {
  List wanted;
};

template <typename List>
struct Description<WantedList<List>> {
  [[gnu::always_inline]] static bool fields(auto& field, auto& message) {
    return field(1, message.wanted);
  }
  static bool is_valid(const WantedList<List>& message) {
    return message.wanted.size() <= kMaxWanted;
  }
};

// EVENTS, with spans that are encoded already, or to be read.
struct EventsDescription {
  [[gnu::always_inline]] static bool fields(auto& field, auto& events) {
    return field(1, events.sequence) || field(2, events.control) || field(kSpans, events.spans) ||
           field(4, events.counts) || field(5, events.wanted);
  }
  static bool is_valid(const auto& events) {
    return events.sequence > 0 && events.control > 0 && events.wanted.size() <= kMaxWanted;
  }
  static constexpr FieldNumber kSpans = 3;
};

}  // namespace pcp::trace::wire
