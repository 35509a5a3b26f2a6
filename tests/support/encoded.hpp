// SPDX-License-Identifier: LGPL-2.1-or-later
// Whole PDUs: from an encoder and its values, and from a payload that is decoded and encoded again.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "wire/batch.hpp"
#include "wire/events.hpp"
#include "wire/frame.hpp"
#include "wire/legacy.hpp"

namespace pcp::trace::wire {

inline constexpr std::uint32_t kPid = 0x1234;

// For example pdu_of(append_batch_ack, 8).
template <typename... Parameters>
std::string pdu_of(void (*append)(std::string&, std::uint32_t, Parameters...),
                   std::type_identity_t<Parameters>... values) {
  std::string pdu;
  append(pdu, kPid, values...);
  return pdu;
}

inline PduType type_of(std::string_view pdu) { return PduType{read_u32(pdu.substr(4))}; }
inline std::string_view payload_of(std::string_view pdu) { return pdu.substr(kHeaderBytes); }

inline std::string pdu_of(const Batch& batch) {
  std::string body;
  for (const DeltaEntry& entry : batch.entries) {
    Histogram histogram;
    Histogram of_failures;
    if (!histogram.merge_packed(entry.histogram) ||
        !of_failures.merge_packed(entry.failed_histogram))
      return "a histogram that is none";
    if (entry.is_added)
      append_increments(body, entry.tag_id, entry.delta);
    else if (!entry.delta.empty())
      append_delta(body, entry.tag_id, entry.type, entry.delta, histogram);
    if (!entry.failed.empty()) append_failures(body, entry.tag_id, entry.failed, of_failures);
  }
  std::string in_flight;
  for (const OpenCount& count : batch.in_flight) append_open_count(in_flight, count);
  return pdu_of(append_batch, batch.sequence,
                {batch.age, batch.counters, in_flight, batch.in_flight_anew}, body);
}

inline std::string pdu_of(const Events& events) {
  std::string body;
  for (const Span& span : events.spans) append_span(body, span);
  return pdu_of(append_events, events.sequence, events.control, events.counts, events.wanted, body);
}

// Gives nothing if the payload is refused. BYE stands for all types that have no decoder.
inline std::optional<std::string> written_again(PduType type, std::string_view payload) {
  const auto again = [](auto append, const auto& decoded) -> std::optional<std::string> {
    if (!decoded) return {};
    return pdu_of(append, *decoded);
  };
  std::vector<TagDefinition> tags(1);  // forgotten by the decoder
  Batch batch;
  Events events;
  switch (type) {
    case PduType::Data:
      return again(append_data, decode_data(payload));
    case PduType::Ack:
      return again(append_ack, decode_ack(payload));
    case PduType::Hello:
      return again(append_hello, decode_hello(payload));
    case PduType::Welcome:
      return again(append_welcome, decode_welcome(payload));
    case PduType::Tags:
      return again(append_tags, decode_tags(payload, tags) ? &tags : nullptr);
    case PduType::Batch:
      if (!decode_batch(payload, batch)) return {};
      return pdu_of(batch);
    case PduType::BatchAck:
      return again(append_batch_ack, decode_batch_ack(payload));
    case PduType::Control:
      return again(append_control, decode_control(payload));
    case PduType::Wanted:
      return again(append_wanted, decode_wanted(payload));
    case PduType::Events:
      if (!decode_events(payload, events)) return {};
      return pdu_of(events);
    case PduType::EventsAck:
      return again(append_events_ack, decode_events_ack(payload));
    default:
      return again(append_bye, decode_bye(payload));
  }
}

}  // namespace pcp::trace::wire
