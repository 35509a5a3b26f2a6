// SPDX-License-Identifier: LGPL-2.1-or-later
// Payloads of both versions of the protocol, without spans. An accepted payload keeps the promises
// of the decoder's header, and is the same PDU each time that it is encoded. A batch of our own
// encoder has all its numbers when it is decoded.
#include <cmath>
#include <string>
#include <vector>

#include "fuzz/input.hpp"
#include "fuzz/same_again.hpp"

using namespace pcp::trace;
using fuzz::Input;
using fuzz::require;

namespace {

using namespace pcp::trace::wire;
using fuzz::same;

// The header's promises about an accepted entry.
void check_entry(const DeltaEntry& entry) {
  const Delta& delta = entry.delta;
  const Delta& failed = entry.failed;
  require(!(delta.empty() && failed.empty()) && delta.nonfinite <= delta.count);
  require(delta.count <= kMaxDeltaCalls && failed.count <= kMaxDeltaCalls);
  require(failed.empty() || entry.type == TraceType::Transact);
  std::uint64_t binned = 0;
  require(Histogram::read_packed_total(entry.failed_histogram, binned));
  require(binned + failed.unbinned + failed.nonfinite == failed.count);
  require(failed.nonfinite == failed.count ||
          (failed.nonfinite == 0 && std::isfinite(failed.sum) && failed.min <= failed.max));
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
          again.is_added == entry.is_added && b.count == a.count &&
          again.histogram == entry.histogram);
  const Delta& c = entry.failed;
  const Delta& d = again.failed;
  require(d.count == c.count && d.nonfinite == c.nonfinite && d.unbinned == c.unbinned &&
          d.sum == c.sum && d.min == c.min && d.max == c.max);
  if (entry.type == TraceType::Point || a.count == 0) return;
  require(b.nonfinite == a.nonfinite && same(b.last, a.last));
  if (entry.is_added) require(b.sum == a.sum);
  if (!has_histogram(entry.type)) return;
  require(b.unbinned == a.unbinned && same(b.sum, a.sum) && same(b.min, a.min) &&
          same(b.max, a.max));
}

void check_batch(const Batch& batch) {
  require(batch.sequence > 0 && batch.age.last_ns <= batch.age.first_ns);
  for (const DeltaEntry& entry : batch.entries) check_entry(entry);
  for (const OpenCount& count : batch.in_flight)
    require(count.open <= kMaxOpen && count.oldest_ns <= kMaxOpenAgeNs);
  Batch head = batch;
  head.entries.clear();
  head.in_flight.clear();
  require(pdu_of(head).size() <= kBatchOverheadBytes);
}

void check_promises(PduType type, std::string_view payload) {
  if (type == PduType::Data) require(is_tag(decode_data(payload)->tag));
  if (type == PduType::Welcome) {
    const auto welcome = decode_welcome(payload);
    require(welcome->agent_instance != 0 && welcome->max_pdu_bytes >= kLeastMaxPduBytes);
    require(welcome->max_tags > 0);
  }
  std::vector<TagDefinition> tags;
  if (type == PduType::Tags && decode_tags(payload, tags))
    for (const TagDefinition& tag : tags) require(is_tag(tag.name));
  Batch batch;
  if (type == PduType::Batch && decode_batch(payload, batch)) check_batch(batch);
}

// Encodes a batch of arbitrary values, as a program may record them.
void encode_and_check(Input input) {
  const std::uint64_t sequence = input.number() | 1;
  const BatchAge age{~std::uint64_t{0}, input.number()};
  const ClientCounters counters{input.number(), input.number(), 1, 2, 3, input.number()};
  std::string in_flight;
  std::string body;
  std::vector<DeltaEntry> entries;
  while (!input.empty()) {
    const TraceType type = kTraceTypes[input.pick(4)];
    const bool has_failed = type == TraceType::Transact && input.pick(3) == 0;
    Delta delta;
    Histogram histogram;
    for (unsigned values = input.pick(5) + 1; values > 0; --values) {
      double value = input.real();
      if (has_failed && !std::isfinite(value)) value = 1;  // they are durations
      if (delta.add(value) && has_histogram(type) && input.pick(4) > 0)
        histogram.add(value);  // not all: some came from a full queue
    }
    for (unsigned steps = input.pick(7); steps > 0; --steps) histogram.coarsen();
    delta.unbinned = has_histogram(type) ? delta.count - delta.nonfinite - histogram.total() : 0;
    DeltaEntry entry;
    entry.tag_id = static_cast<std::uint32_t>(entries.size());
    entry.type = type;
    (has_failed ? entry.failed : entry.delta) = delta;
    if (has_failed)
      append_failures(body, entry.tag_id, delta, histogram);
    else
      append_delta(body, entry.tag_id, type, delta, histogram);
    append_open_count(in_flight, {entry.tag_id, delta.count, sequence >> 2, kPid});
    entries.push_back(entry);
  }
  const std::string pdu =
      pdu_of(append_batch, sequence, {age, counters, in_flight, entries.size() % 2 == 1}, body);
  Batch batch;
  require(decode_batch(payload_of(pdu), batch));
  require(batch.entries.size() == entries.size() && batch.in_flight.size() == entries.size());
  for (std::size_t i = 0; i < entries.size(); ++i) {
    entries[i].histogram = batch.entries[i].histogram;
    check_same(entries[i], batch.entries[i]);
  }
  check_batch(batch);
  require(pdu_of(batch) == pdu);
}

}  // namespace

void fuzz::run(Input input) {
  constexpr PduType kTypes[] = {PduType::Ack,  PduType::Data,  PduType::Hello,    PduType::Welcome,
                                PduType::Tags, PduType::Batch, PduType::BatchAck, PduType::Bye};
  const unsigned choice = input.pick(10);
  if (choice < 8) {
    if (fuzz::is_same_again(kTypes[choice], input.rest()))
      check_promises(kTypes[choice], input.rest());
  } else if (choice == 8) {
    encode_and_check(input);
  } else {
    const TraceType type = kTraceTypes[input.pick(4)];
    const bool wants_ack = input.pick(2) == 1;
    const double value = input.real();
    const auto tag = input.rest();
    if (!is_tag(tag)) return;
    const std::string pdu = pdu_of(append_data, {type, wants_ack, value, tag});
    require(pdu.size() == data_pdu_bytes(tag.size()));
    require(fuzz::is_same_again(PduType::Data, payload_of(pdu)));
    require(same(decode_data(payload_of(pdu))->value, value));
  }
}
