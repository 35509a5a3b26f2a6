// SPDX-License-Identifier: LGPL-2.1-or-later
#include "wire/batch.hpp"

#include <cmath>
#include <limits>

#include "wire/descriptions.hpp"
#include "wire/message.hpp"

namespace pcp::trace::wire {

namespace {

// A batch whose parts are encoded already.
struct EncodedBatch {
  std::uint64_t sequence;
  BatchAge age;
  ClientCounters counters;
  Encoded in_flight;
  bool in_flight_anew;
  Encoded entries;
};

std::optional<double> unless_last(double value, const Delta& delta) {
  if (value == delta.last) return std::nullopt;
  return value;
}

// True if `last` is possible in a delta with so many finite values.
bool has_sane_last(const Delta& delta, std::uint64_t finite) {
  if (!std::isfinite(delta.last)) return delta.nonfinite > 0;
  return finite > 0 && delta.min <= delta.last && delta.last <= delta.max;
}

// Replaces an infinite sum by the greatest number, where our own client's sums stop. False if
// `finite` values, none beyond `farthest`, cannot add up to infinity.
bool make_sum_finite(Delta& delta, std::uint64_t finite, double farthest) {
  if (std::isfinite(delta.sum)) return true;
  if (static_cast<double>(finite) * farthest != delta.sum) return false;
  delta.sum = std::copysign(std::numeric_limits<double>::max(), delta.sum);
  return true;
}

// Increments need only their sum.
bool complete_increments(DeltaEntry& entry, const std::optional<double>& sum) {
  Delta& delta = entry.delta;
  if (entry.type != TraceType::Counter || delta.nonfinite > 0) return false;
  delta.sum = sum.value_or(delta.last);
  return delta.sum >= 0 && make_sum_finite(delta, delta.count, std::numeric_limits<double>::max());
}

// False if these numbers of so many finite values contradict each other.
bool has_sane_sums(Delta& delta, std::uint64_t finite) {
  return std::isfinite(delta.min) && std::isfinite(delta.max) && delta.min <= delta.max &&
         make_sum_finite(delta, finite, delta.sum > 0 ? delta.max : delta.min);
}

// Older libraries do not send durations of failures.
bool complete_failures(DeltaEntry& entry, const ReceivedDelta& received) {
  Delta& failed = entry.failed;
  if (!received.failed_sum) {
    failed.nonfinite = failed.count;
    return entry.failed_histogram.empty() && !received.failed_min && !received.failed_max;
  }
  std::uint64_t binned = 0;
  if (!Histogram::read_packed_total(entry.failed_histogram, binned)) return false;
  if (failed.count == 0 || binned > failed.count) return false;
  failed.unbinned = failed.count - binned;
  failed.sum = *received.failed_sum;
  failed.min = received.failed_min.value_or(failed.sum);
  failed.max = received.failed_max.value_or(failed.sum);
  return has_sane_sums(failed, failed.count);
}

}  // namespace

template <>
struct Description<EncodedBatch> : Description<Batch> {};

// Fills in missing fields, and rejects contradictions.
bool Description<ReceivedDelta>::is_valid(ReceivedDelta& received) {
  DeltaEntry& entry = received.entry;
  Delta& delta = entry.delta;
  if (!is_trace_type(static_cast<std::uint64_t>(entry.type))) return false;
  if ((delta.empty() && entry.failed.empty()) || delta.nonfinite > delta.count) return false;
  if (delta.count > kMaxDeltaCalls || entry.failed.count > kMaxDeltaCalls) return false;
  if (!entry.failed.empty() && entry.type != TraceType::Transact) return false;
  if (!complete_failures(entry, received)) return false;

  std::uint64_t binned = 0;
  if (!Histogram::read_packed_total(entry.histogram, binned)) return false;
  if (entry.is_added && !complete_increments(entry, received.sum)) return false;
  if (!has_histogram(entry.type)) return entry.histogram.empty();
  const std::uint64_t finite = delta.count - delta.nonfinite;
  if (binned > finite) return false;
  delta.unbinned = finite - binned;

  if (delta.count == 0) return true;
  if (finite == 0) return has_sane_last(delta, finite);
  delta.sum = received.sum.value_or(delta.last);
  delta.min = received.min.value_or(delta.last);
  delta.max = received.max.value_or(delta.last);
  return has_sane_sums(delta, finite) && has_sane_last(delta, finite);
}

bool Description<Welcome>::is_valid(Welcome& welcome) {
  if (welcome.max_pdu_bytes == 0) welcome.max_pdu_bytes = kLeastMaxPduBytes;
  if (welcome.max_tags == 0) welcome.max_tags = std::numeric_limits<std::uint32_t>::max();
  return welcome.agent_instance != 0 && welcome.max_pdu_bytes >= kLeastMaxPduBytes;
}

void append_hello(std::string& out, std::uint32_t pid, const Hello& hello) {
  append_pdu(out, PduType::Hello, pid, hello);
}

void append_welcome(std::string& out, std::uint32_t pid, const Welcome& welcome) {
  append_pdu(out, PduType::Welcome, pid, welcome);
}

void append_tags(std::string& out, std::uint32_t pid, const std::vector<TagDefinition>& tags) {
  append_pdu(out, PduType::Tags, pid, TagList<const std::vector<TagDefinition>>{tags});
}

void append_batch_ack(std::string& out, std::uint32_t pid, std::uint64_t sequence) {
  append_pdu(out, PduType::BatchAck, pid, Acknowledgement{sequence});
}

void append_bye(std::string& out, std::uint32_t pid, ByeReason reason) {
  append_pdu(out, PduType::Bye, pid, Bye{reason});
}

void append_delta(std::string& body, std::uint32_t tag_id, TraceType type, const Delta& delta,
                  const Histogram& histogram) {
  SentDelta sent;
  sent.entry.tag_id = tag_id;
  sent.entry.type = type;
  sent.entry.delta.count = delta.count;
  if (type != TraceType::Point) {
    sent.entry.delta.nonfinite = delta.nonfinite;
    sent.last = delta.last;
    if (has_histogram(type) && delta.count != delta.nonfinite) {
      sent.sum = unless_last(delta.sum, delta);
      sent.min = unless_last(delta.min, delta);
      sent.max = unless_last(delta.max, delta);
      if (!histogram.empty()) sent.histogram = &histogram;
    }
  }
  append_field(body, Description<Batch>::kEntries, sent);
}

void append_failures(std::string& body, std::uint32_t tag_id, const Delta& failed,
                     const Histogram& histogram) {
  SentDelta sent;
  sent.entry.tag_id = tag_id;
  sent.entry.type = TraceType::Transact;
  sent.entry.failed.count = failed.count;
  if (failed.nonfinite == 0) sent.failed_sum = failed.sum;
  if (failed.nonfinite == 0 && failed.count > 1) {
    sent.failed_min = failed.min;
    sent.failed_max = failed.max;
  }
  if (!histogram.empty()) sent.failed_histogram = &histogram;
  append_field(body, Description<Batch>::kEntries, sent);
}

void append_increments(std::string& body, std::uint32_t tag_id, const Delta& delta) {
  SentDelta sent;
  sent.entry.tag_id = tag_id;
  sent.entry.type = TraceType::Counter;
  sent.entry.is_added = true;
  sent.entry.delta.count = delta.count;
  sent.last = delta.last;
  sent.sum = unless_last(delta.sum, delta);
  append_field(body, Description<Batch>::kEntries, sent);
}

void append_open_count(std::string& in_flight, const OpenCount& count) {
  append_field(in_flight, Description<Batch>::kInFlight, count);
}

void append_batch(std::string& out, std::uint32_t pid, std::uint64_t sequence,
                  const BatchHead& head, std::string_view body) {
  append_pdu(out, PduType::Batch, pid,
             EncodedBatch{
                 sequence, head.age, head.counters, {head.in_flight}, head.in_flight_anew, {body}});
}

std::optional<Hello> decode_hello(std::string_view payload) { return decoded<Hello>(payload); }

std::optional<Welcome> decode_welcome(std::string_view payload) {
  return decoded<Welcome>(payload);
}

bool decode_tags(std::string_view payload, std::vector<TagDefinition>& tags) {
  tags.clear();
  TagList<std::vector<TagDefinition>> message{tags};
  return decodes(payload, message);
}

bool decode_batch(std::string_view payload, Batch& batch) {
  batch.sequence = 0;
  batch.age = {};
  batch.counters = {};
  batch.in_flight.clear();
  batch.in_flight_anew = false;
  batch.entries.clear();
  return decodes(payload, batch);
}

std::optional<std::uint64_t> decode_batch_ack(std::string_view payload) {
  return decoded_sequence(payload);
}

std::optional<ByeReason> decode_bye(std::string_view payload) {
  const auto bye = decoded<Bye>(payload);
  if (!bye) return std::nullopt;
  return bye->reason;
}

}  // namespace pcp::trace::wire
