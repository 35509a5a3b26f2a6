// SPDX-License-Identifier: LGPL-2.1-or-later
// Payloads of both versions of the protocol. Accepted payloads keep the promises of the decoder's
// header, and are the same after encoding and decoding again. Payloads of our own encoder also
// survive that.
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "fuzz/input.hpp"
#include "wire/batch.hpp"
#include "wire/frame.hpp"
#include "wire/histogram.hpp"
#include "wire/legacy.hpp"

namespace {

using namespace pcp::trace;
using namespace pcp::trace::wire;
using fuzz::Input;
using fuzz::require;

constexpr std::uint32_t kPid = 7;

// NaN equals NaN. A zero may lose its sign, because a value equal to `last` is left out.
bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

// Gives the payload of the only PDU.
std::string_view payload_of(std::string_view pdu, PduType type) {
  require(pdu.size() >= kHeaderBytes && read_u32(pdu) == pdu.size());
  require(read_u32(pdu.substr(4)) == static_cast<std::uint32_t>(type));
  require(read_u32(pdu.substr(8)) == kPid);
  return pdu.substr(kHeaderBytes);
}

void check_ack(std::string_view payload) {
  const auto code = decode_ack(payload);
  if (!code) return;
  std::string again;
  append_ack(again, kPid, *code);
  require(payload_of(again, PduType::Ack) == payload);
}

void check_data(const LegacyData& data) {
  require(is_tag(data.tag));
  std::string pdu;
  append_data(pdu, kPid, data);
  require(pdu.size() == data_pdu_bytes(data.tag.size()));
  const auto again = decode_data(payload_of(pdu, PduType::Data));
  require(again && again->type == data.type && again->wants_ack == data.wants_ack &&
          again->tag == data.tag && same(again->value, data.value));
}

void check_hello(const Hello& hello) {
  std::string pdu;
  append_hello(pdu, kPid, hello);
  const auto again = decode_hello(payload_of(pdu, PduType::Hello));
  require(again && again->session == hello.session && again->pid == hello.pid &&
          again->process == hello.process && again->service == hello.service &&
          again->labels == hello.labels && again->start_time_ns == hello.start_time_ns);
}

void check_welcome(const Welcome& welcome) {
  require(welcome.agent_instance != 0 && welcome.max_pdu_bytes >= kLeastMaxPduBytes);
  require(welcome.max_tags > 0);
  std::string pdu;
  append_welcome(pdu, kPid, welcome);
  const auto again = decode_welcome(payload_of(pdu, PduType::Welcome));
  require(again && again->agent_instance == welcome.agent_instance &&
          again->session_known == welcome.session_known &&
          again->last_sequence == welcome.last_sequence &&
          again->max_pdu_bytes == welcome.max_pdu_bytes && again->max_tags == welcome.max_tags &&
          again->features == welcome.features);
}

void check_tags(const std::vector<TagDefinition>& tags) {
  std::string pdu;
  append_tags(pdu, kPid, tags);
  std::vector<TagDefinition> again;
  require(decode_tags(payload_of(pdu, PduType::Tags), again) && again.size() == tags.size());
  for (std::size_t i = 0; i < tags.size(); ++i) {
    require(is_tag(tags[i].name));
    require(again[i].id == tags[i].id && again[i].name == tags[i].name);
    require(again[i].unit == tags[i].unit && again[i].description == tags[i].description);
  }
}

void check_batch_ack(std::uint64_t sequence) {
  std::string pdu;
  append_batch_ack(pdu, kPid, sequence);
  require(decode_batch_ack(payload_of(pdu, PduType::BatchAck)) == sequence);
}

void check_bye(ByeReason reason) {
  std::string pdu;
  append_bye(pdu, kPid, reason);
  require(decode_bye(payload_of(pdu, PduType::Bye)) == reason);
}

// The header's promises about an accepted entry.
void check_entry(const DeltaEntry& entry) {
  const Delta& delta = entry.delta;
  require(!delta.empty() && delta.nonfinite <= delta.count);
  require(delta.count <= kMaxDeltaCalls && delta.aborts <= kMaxDeltaCalls);
  require(delta.aborts == 0 || entry.type == TraceType::Transact);
  std::uint64_t binned = 0;
  require(Histogram::read_packed_total(entry.histogram, binned));
  if (entry.is_added)
    require(entry.type == TraceType::Counter && delta.nonfinite == 0 && delta.sum >= 0 &&
            std::isfinite(delta.sum));
  if (!has_histogram(entry.type)) {
    require(entry.histogram.empty());
    return;
  }
  const std::uint64_t finite = delta.count - delta.nonfinite;
  require(binned <= finite && binned + delta.unbinned == finite);
  if (finite > 0)
    require(std::isfinite(delta.min) && std::isfinite(delta.max) && delta.min <= delta.max &&
            std::isfinite(delta.sum));
}

// Compares the fields that an entry of this type carries.
void check_same(const DeltaEntry& entry, const DeltaEntry& again) {
  const Delta& a = entry.delta;
  const Delta& b = again.delta;
  require(again.tag_id == entry.tag_id && again.type == entry.type &&
          again.is_added == entry.is_added && b.count == a.count && b.aborts == a.aborts &&
          again.histogram == entry.histogram);
  if (entry.type == TraceType::Point || a.count == 0) return;
  require(b.nonfinite == a.nonfinite && same(b.last, a.last));
  if (entry.is_added) require(b.sum == a.sum);
  if (!has_histogram(entry.type)) return;
  require(b.unbinned == a.unbinned && same(b.sum, a.sum) && same(b.min, a.min) &&
          same(b.max, a.max));
}

void check_batch(const Batch& batch) {
  require(batch.sequence > 0 && batch.age.last_ns <= batch.age.first_ns);
  std::string body;
  for (const DeltaEntry& entry : batch.entries) {
    check_entry(entry);
    Histogram histogram;
    require(histogram.merge_packed(entry.histogram));
    if (entry.is_added)
      append_increments(body, entry.tag_id, entry.delta);
    else
      append_delta(body, entry.tag_id, entry.type, entry.delta, histogram);
  }
  std::string in_flight;
  for (const OpenCount& count : batch.in_flight) {
    require(count.open <= kMaxOpen && count.oldest_ns <= kMaxOpenAgeNs);
    append_open_count(in_flight, count);
  }
  std::string pdu;
  append_batch(pdu, kPid, batch.sequence,
               {batch.age, batch.counters, in_flight, batch.in_flight_anew}, body);
  require(pdu.size() <= body.size() + in_flight.size() + kBatchOverheadBytes);
  Batch again;
  require(decode_batch(payload_of(pdu, PduType::Batch), again));
  require(again.in_flight == batch.in_flight && again.in_flight_anew == batch.in_flight_anew);
  require(again.sequence == batch.sequence && again.age.first_ns == batch.age.first_ns &&
          again.age.last_ns == batch.age.last_ns);
  require(again.counters.recorded == batch.counters.recorded &&
          again.counters.sent == batch.counters.sent &&
          again.counters.merged == batch.counters.merged &&
          again.counters.thinned == batch.counters.thinned &&
          again.counters.uncertain == batch.counters.uncertain &&
          again.counters.reconnects == batch.counters.reconnects);
  require(again.entries.size() == batch.entries.size());
  for (std::size_t i = 0; i < batch.entries.size(); ++i)
    check_same(batch.entries[i], again.entries[i]);
}

void decode_and_check(PduType type, std::string_view payload) {
  std::vector<TagDefinition> tags;
  Batch batch;
  switch (type) {
    case PduType::Ack:
      return check_ack(payload);
    case PduType::Data:
      if (const auto data = decode_data(payload)) check_data(*data);
      break;
    case PduType::Hello:
      if (const auto hello = decode_hello(payload)) check_hello(*hello);
      break;
    case PduType::Welcome:
      if (const auto welcome = decode_welcome(payload)) check_welcome(*welcome);
      break;
    case PduType::Tags:
      if (decode_tags(payload, tags)) check_tags(tags);
      break;
    case PduType::Batch:
      if (decode_batch(payload, batch)) check_batch(batch);
      break;
    case PduType::BatchAck:
      if (const auto sequence = decode_batch_ack(payload)) check_batch_ack(*sequence);
      break;
    default:
      if (const auto reason = decode_bye(payload)) check_bye(*reason);
  }
}

// Encodes a batch of arbitrary values, as a program may record them.
void encode_and_check(Input input) {
  const std::uint64_t sequence = input.number() | 1;
  const BatchAge age{~std::uint64_t{0}, input.number()};
  const ClientCounters counters{input.number(), input.number(), 1, 2, 3, input.number()};
  std::string in_flight;
  std::string body;
  std::vector<Delta> deltas;
  std::vector<TraceType> types;
  while (!input.empty()) {
    const TraceType type = kTraceTypes[input.pick(4)];
    Delta delta;
    Histogram histogram;
    if (type == TraceType::Transact) delta.aborts = input.pick(3);
    for (unsigned values = input.pick(5) + (delta.aborts == 0); values > 0; --values) {
      const double value = input.real();
      if (delta.add(value) && has_histogram(type) && input.pick(4) > 0)
        histogram.add(value);  // not all: some came from a full queue
    }
    for (unsigned steps = input.pick(7); steps > 0; --steps) histogram.coarsen();
    delta.unbinned = has_histogram(type) ? delta.count - delta.nonfinite - histogram.total() : 0;
    append_delta(body, static_cast<std::uint32_t>(deltas.size()), type, delta, histogram);
    append_open_count(
        in_flight, {static_cast<std::uint32_t>(deltas.size()), delta.aborts, sequence >> 2, kPid});
    deltas.push_back(delta);
    types.push_back(type);
  }
  std::string pdu;
  append_batch(pdu, kPid, sequence, {age, counters, in_flight, deltas.size() % 2 == 1}, body);
  Batch batch;
  require(decode_batch(payload_of(pdu, PduType::Batch), batch));
  require(batch.entries.size() == deltas.size() && batch.in_flight.size() == deltas.size());
  for (std::uint32_t i = 0; i < deltas.size(); ++i)
    check_same({i, types[i], false, deltas[i], batch.entries[i].histogram}, batch.entries[i]);
  check_batch(batch);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  constexpr PduType kTypes[] = {PduType::Ack,  PduType::Data,  PduType::Hello,    PduType::Welcome,
                                PduType::Tags, PduType::Batch, PduType::BatchAck, PduType::Bye};
  Input input(bytes, size);
  const unsigned choice = input.pick(10);
  if (choice < 8) {
    decode_and_check(kTypes[choice], input.rest());
  } else if (choice == 8) {
    encode_and_check(input);
  } else {
    const TraceType type = kTraceTypes[input.pick(4)];
    const bool wants_ack = input.pick(2) == 1;
    const double value = input.real();
    if (const auto tag = input.rest(); is_tag(tag)) check_data({type, wants_ack, value, tag});
  }
  return 0;
}
