// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <cmath>
#include <limits>

#include "wire/batch.hpp"
#include "wire/batch_fields.hpp"
#include "wire/events_fields.hpp"
#include "wire/message.hpp"

namespace pcp::trace::wire {

namespace {

// These switches skip fields with an unknown number or wire type, as protobuf requires. Call
// protozero's getters only for the matching wire type.

void read_label(protozero::data_view bytes, std::pair<std::string, std::string>& label) {
  protozero::pbf_message<LabelField> message(bytes);
  while (message.next()) {
    switch (message.tag_and_type()) {
      case tag_and_type(LabelField::Name, Type::length_delimited):
        label.first = message.get_string();
        break;
      case tag_and_type(LabelField::Value, Type::length_delimited):
        label.second = message.get_string();
        break;
      default:
        message.skip();
    }
  }
}

bool read_hello(std::string_view payload, Hello& hello) {
  protozero::pbf_message<HelloField> message(payload.data(), payload.size());
  std::string_view session;
  while (message.next()) {
    switch (message.tag_and_type()) {
      case tag_and_type(HelloField::Session, Type::length_delimited):
        session = view_of(message.get_view());
        break;
      case tag_and_type(HelloField::Pid, Type::varint):
        hello.pid = message.get_uint32();
        break;
      case tag_and_type(HelloField::Process, Type::length_delimited):
        hello.process = message.get_string();
        break;
      case tag_and_type(HelloField::Service, Type::length_delimited):
        hello.service = message.get_string();
        break;
      case tag_and_type(HelloField::Labels, Type::length_delimited):
        read_label(message.get_view(), hello.labels.emplace_back());
        break;
      case tag_and_type(HelloField::StartTimeNs, Type::varint):
        hello.start_time_ns = message.get_uint64();
        break;
      default:
        message.skip();
    }
  }
  if (session.size() != hello.session.size()) return false;
  std::copy(session.begin(), session.end(), hello.session.begin());
  return true;
}

void note_feature(FeatureSet& features, std::uint64_t number) {
  if (number < features.size()) features.set(number);
}

bool read_welcome(std::string_view payload, Welcome& welcome) {
  protozero::pbf_message<WelcomeField> message(payload.data(), payload.size());
  welcome.max_pdu_bytes = kLeastMaxPduBytes;
  while (message.next()) {
    switch (message.tag_and_type()) {
      case tag_and_type(WelcomeField::AgentInstance, Type::fixed64):
        welcome.agent_instance = message.get_fixed64();
        break;
      case tag_and_type(WelcomeField::SessionKnown, Type::varint):
        welcome.session_known = message.get_uint64() != 0;
        break;
      case tag_and_type(WelcomeField::LastSequence, Type::varint):
        welcome.last_sequence = message.get_uint64();
        break;
      case tag_and_type(WelcomeField::MaxPduBytes, Type::varint):
        welcome.max_pdu_bytes = message.get_uint32();
        break;
      case tag_and_type(WelcomeField::MaxTags, Type::varint):
        welcome.max_tags = message.get_uint32();
        break;
      // Packed or one by one: protobuf requires both.
      case tag_and_type(WelcomeField::Features, Type::length_delimited):
        for (const std::uint64_t number : message.get_packed_uint64())
          note_feature(welcome.features, number);
        break;
      case tag_and_type(WelcomeField::Features, Type::varint):
        note_feature(welcome.features, message.get_uint64());
        break;
      case tag_and_type(WelcomeField::LastEvents, Type::varint):
        welcome.last_events = message.get_uint64();
        break;
      case tag_and_type(WelcomeField::Control, Type::length_delimited):
        if (!read_control(view_of(message.get_view()), welcome.control.emplace())) return false;
        break;
      default:
        message.skip();
    }
  }
  if (welcome.max_tags == 0) welcome.max_tags = std::numeric_limits<std::uint32_t>::max();
  return welcome.agent_instance != 0 && welcome.max_pdu_bytes >= kLeastMaxPduBytes;
}

bool read_tag(protozero::data_view bytes, TagDefinition& tag) {
  protozero::pbf_message<TagField> message(bytes);
  while (message.next()) {
    switch (message.tag_and_type()) {
      case tag_and_type(TagField::Id, Type::varint):
        tag.id = message.get_uint32();
        break;
      case tag_and_type(TagField::Name, Type::length_delimited):
        tag.name = view_of(message.get_view());
        break;
      case tag_and_type(TagField::Unit, Type::length_delimited):
        tag.unit = view_of(message.get_view());
        break;
      case tag_and_type(TagField::Description, Type::length_delimited):
        tag.description = view_of(message.get_view());
        break;
      default:
        message.skip();
    }
  }
  return is_tag(tag.name);
}

void read_counters(protozero::data_view bytes, ClientCounters& counters) {
  protozero::pbf_message<CountersField> message(bytes);
  while (message.next()) {
    switch (message.tag_and_type()) {
      case tag_and_type(CountersField::Recorded, Type::varint):
        counters.recorded = message.get_uint64();
        break;
      case tag_and_type(CountersField::Sent, Type::varint):
        counters.sent = message.get_uint64();
        break;
      case tag_and_type(CountersField::Merged, Type::varint):
        counters.merged = message.get_uint64();
        break;
      case tag_and_type(CountersField::Thinned, Type::varint):
        counters.thinned = message.get_uint64();
        break;
      case tag_and_type(CountersField::Uncertain, Type::varint):
        counters.uncertain = message.get_uint64();
        break;
      case tag_and_type(CountersField::Reconnects, Type::varint):
        counters.reconnects = message.get_uint64();
        break;
      default:
        message.skip();
    }
  }
}

// A delta as received, before missing fields are filled in.
struct RawDelta {
  std::uint64_t type = 0;
  std::optional<double> sum;
  std::optional<double> min;
  std::optional<double> max;
};

void read_delta(protozero::data_view bytes, DeltaEntry& entry, RawDelta& raw) {
  protozero::pbf_message<DeltaField> message(bytes);
  while (message.next()) {
    switch (message.tag_and_type()) {
      case tag_and_type(DeltaField::Tag, Type::varint):
        entry.tag_id = message.get_uint32();
        break;
      case tag_and_type(DeltaField::Type, Type::varint):
        raw.type = message.get_uint64();
        break;
      case tag_and_type(DeltaField::Count, Type::varint):
        entry.delta.count = message.get_uint64();
        break;
      case tag_and_type(DeltaField::Aborts, Type::varint):
        entry.delta.aborts = message.get_uint64();
        break;
      case tag_and_type(DeltaField::Nonfinite, Type::varint):
        entry.delta.nonfinite = message.get_uint64();
        break;
      case tag_and_type(DeltaField::Last, Type::fixed64):
        entry.delta.last = message.get_double();
        break;
      case tag_and_type(DeltaField::Sum, Type::fixed64):
        raw.sum = message.get_double();
        break;
      case tag_and_type(DeltaField::Min, Type::fixed64):
        raw.min = message.get_double();
        break;
      case tag_and_type(DeltaField::Max, Type::fixed64):
        raw.max = message.get_double();
        break;
      case tag_and_type(DeltaField::Histogram, Type::length_delimited):
        entry.histogram = view_of(message.get_view());
        break;
      case tag_and_type(DeltaField::Added, Type::varint):
        entry.is_added = message.get_uint64() != 0;  // get_bool() reads past the end
        break;
      default:
        message.skip();
    }
  }
}

// True if `last` fits a delta of so many finite values.
bool has_sane_last(const Delta& delta, std::uint64_t finite) {
  if (!std::isfinite(delta.last)) return delta.nonfinite > 0;
  return finite > 0 && delta.min <= delta.last && delta.last <= delta.max;
}

// A client may send an infinite sum; ours stops at the greatest number. False if `finite` values,
// none beyond `farthest`, cannot add up to infinity.
bool make_sum_finite(Delta& delta, std::uint64_t finite, double farthest) {
  if (std::isfinite(delta.sum)) return true;
  if (static_cast<double>(finite) * farthest != delta.sum) return false;
  delta.sum = std::copysign(std::numeric_limits<double>::max(), delta.sum);
  return true;
}

// Increments need only their sum.
bool complete_increments(DeltaEntry& entry, const RawDelta& raw) {
  Delta& delta = entry.delta;
  if (entry.type != TraceType::Counter || delta.nonfinite > 0) return false;
  delta.sum = raw.sum.value_or(delta.last);
  return delta.sum >= 0 && make_sum_finite(delta, delta.count, std::numeric_limits<double>::max());
}

// Fills in missing fields, and rejects contradictions.
bool complete(DeltaEntry& entry, const RawDelta& raw) {
  Delta& delta = entry.delta;
  if (!is_trace_type(raw.type)) return false;
  entry.type = static_cast<TraceType>(raw.type);
  if (delta.empty() || delta.nonfinite > delta.count) return false;
  if (delta.count > kMaxDeltaCalls || delta.aborts > kMaxDeltaCalls) return false;
  if (delta.aborts > 0 && entry.type != TraceType::Transact) return false;

  std::uint64_t binned = 0;
  if (!Histogram::read_packed_total(entry.histogram, binned)) return false;
  if (entry.is_added && !complete_increments(entry, raw)) return false;
  if (!has_histogram(entry.type)) return entry.histogram.empty();
  const std::uint64_t finite = delta.count - delta.nonfinite;
  if (binned > finite) return false;
  delta.unbinned = finite - binned;

  if (delta.count == 0) return true;
  if (finite == 0) return has_sane_last(delta, finite);
  delta.sum = raw.sum.value_or(delta.last);
  delta.min = raw.min.value_or(delta.last);
  delta.max = raw.max.value_or(delta.last);
  return std::isfinite(delta.min) && std::isfinite(delta.max) && delta.min <= delta.max &&
         has_sane_last(delta, finite) &&
         make_sum_finite(delta, finite, delta.sum > 0 ? delta.max : delta.min);
}

bool read_open_count(protozero::data_view bytes, OpenCount& count) {
  protozero::pbf_message<InFlightField> message(bytes);
  while (message.next()) {
    switch (message.tag_and_type()) {
      case tag_and_type(InFlightField::Tag, Type::varint):
        count.tag_id = message.get_uint32();
        break;
      case tag_and_type(InFlightField::Open, Type::varint):
        count.open = message.get_uint64();
        break;
      case tag_and_type(InFlightField::OldestNs, Type::varint):
        count.oldest_ns = message.get_uint64();
        break;
      case tag_and_type(InFlightField::Tid, Type::varint):
        count.tid = message.get_uint32();
        break;
      default:
        message.skip();
    }
  }
  return count.open <= kMaxOpen && count.oldest_ns <= kMaxOpenAgeNs;
}

bool read_batch(std::string_view payload, Batch& batch) {
  protozero::pbf_message<BatchField> message(payload.data(), payload.size());
  while (message.next()) {
    switch (message.tag_and_type()) {
      case tag_and_type(BatchField::Sequence, Type::varint):
        batch.sequence = message.get_uint64();
        break;
      case tag_and_type(BatchField::FirstNs, Type::varint):
        batch.age.first_ns = message.get_uint64();
        break;
      case tag_and_type(BatchField::LastNs, Type::varint):
        batch.age.last_ns = message.get_uint64();
        break;
      case tag_and_type(BatchField::Counters, Type::length_delimited):
        read_counters(message.get_view(), batch.counters);
        break;
      case tag_and_type(BatchField::Deltas, Type::length_delimited): {
        DeltaEntry& entry = batch.entries.emplace_back();
        RawDelta raw;
        read_delta(message.get_view(), entry, raw);
        if (!complete(entry, raw)) return false;
        break;
      }
      case tag_and_type(BatchField::InFlight, Type::length_delimited):
        if (!read_open_count(message.get_view(), batch.in_flight.emplace_back())) return false;
        break;
      case tag_and_type(BatchField::InFlightAnew, Type::varint):
        batch.in_flight_anew = message.get_uint64() != 0;
        break;
      default:
        message.skip();
    }
  }
  return batch.sequence > 0 && batch.age.last_ns <= batch.age.first_ns;
}

}  // namespace

std::optional<Hello> decode_hello(std::string_view payload) {
  Hello hello;
  if (!decodes([&] { return read_hello(payload, hello); })) return std::nullopt;
  return hello;
}

std::optional<Welcome> decode_welcome(std::string_view payload) {
  Welcome welcome;
  if (!decodes([&] { return read_welcome(payload, welcome); })) return std::nullopt;
  return welcome;
}

bool decode_tags(std::string_view payload, std::vector<TagDefinition>& tags) {
  tags.clear();
  return decodes([&] {
    protozero::pbf_message<TagsField> message(payload.data(), payload.size());
    while (message.next()) {
      if (message.tag_and_type() != tag_and_type(TagsField::Tags, Type::length_delimited)) {
        message.skip();
      } else if (!read_tag(message.get_view(), tags.emplace_back())) {
        return false;
      }
    }
    return true;
  });
}

bool decode_batch(std::string_view payload, Batch& batch) {
  batch.sequence = 0;
  batch.age = {};
  batch.counters = {};
  batch.in_flight.clear();
  batch.in_flight_anew = false;
  batch.entries.clear();
  return decodes([&] { return read_batch(payload, batch); });
}

std::optional<std::uint64_t> decode_batch_ack(std::string_view payload) {
  std::uint64_t sequence = 0;
  const bool valid = decodes([&] {
    protozero::pbf_message<BatchAckField> message(payload.data(), payload.size());
    while (message.next()) {
      if (message.tag_and_type() == tag_and_type(BatchAckField::Sequence, Type::varint)) {
        sequence = message.get_uint64();
      } else {
        message.skip();
      }
    }
    return sequence > 0;
  });
  if (!valid) return std::nullopt;
  return sequence;
}

std::optional<ByeReason> decode_bye(std::string_view payload) {
  auto reason = ByeReason::Done;
  const bool valid = decodes([&] {
    protozero::pbf_message<ByeField> message(payload.data(), payload.size());
    while (message.next()) {
      if (message.tag_and_type() == tag_and_type(ByeField::Reason, Type::varint)) {
        reason = static_cast<ByeReason>(message.get_uint32());
      } else {
        message.skip();
      }
    }
    return true;
  });
  if (!valid) return std::nullopt;
  return reason;
}

}  // namespace pcp::trace::wire
