// SPDX-License-Identifier: LGPL-2.1-or-later
// The memory that a dead process leaves. The input says what is written where: raw bytes, or tags,
// nodes, slots and records with some bytes changed. Whatever is there, the agent reads it in few
// steps, stores only valid spans of captures that the process knows, and its counts agree.
#include <algorithm>
#include <string>

#include "collector/ingest/recovery.hpp"
#include "fuzz/input.hpp"
#include "support/box_memory.hpp"

using namespace pcp::trace;
using fuzz::Input;
using fuzz::require;

namespace {

using namespace pcp::trace::agent;
using namespace pcp::trace::wire::box;

constexpr std::uint64_t kTag = 0x1000;

// Replaces some of its bytes.
template <typename Struct>
void change(Struct& value, Input& input) {
  for (unsigned changes = input.pick(4); changes > 0; --changes) {
    const std::size_t at = input.byte() % sizeof value;
    const std::string_view bytes =
        input.text(std::min<std::size_t>(input.pick(9), sizeof value - at));
    bytes.copy(reinterpret_cast<char*>(&value) + at, bytes.size());
  }
}

void write_something(BoxMemory& box, Input& input) {
  const std::uint8_t small = input.byte();
  const std::uint64_t bits = std::uint64_t{small % 4u + 1} << kCaptureBitsAt;
  switch (input.pick(8)) {
    case 0:
      box.begin_ring(input.number());
      return;
    case 1:
      box.add_set(small, input.pick(4));
      return;
    case 2:
      box.add_tag(small, kTag + small, input.line());
      return;
    case 3: {
      const unsigned index = input.byte();
      Node node{};
      node.tag = kTag + small;
      node.trace_low = input.pick(3);
      node.own = input.pick(4);
      node.packed = bits;
      node.epoch = input.pick(3);
      node.kind = input.byte();
      node.is_live = 1;
      change(node, input);
      box.put_node(index, node);
      return;
    }
    case 4: {
      const unsigned index = input.byte();
      Slot slot{};
      slot.begun = 3;
      slot.reason_for = small;
      slot.epoch = input.pick(3);
      slot.trace_low = input.pick(3);
      slot.tag = kTag + small;
      slot.packed = bits;
      slot.own = input.pick(4);
      change(slot, input);
      box.put_slot(index, slot);
      return;
    }
    case 5: {
      std::string fields;
      const wire::SpanAttribute attribute{"key", input.line()};
      wire::append_span_fields(fields,
                               {.kind = wire::SpanKind{static_cast<std::uint8_t>(small % 7)},
                                .span = input.pick(4),
                                .attributes = {&attribute, 1}});
      fields += input.line();
      Record record{.epoch = static_cast<std::uint16_t>(input.pick(3)),
                    .tag_and_flags = std::uint32_t{small} << 8,
                    .undecided = small,
                    .in_flight = 1,
                    .sequence = input.pick(3),
                    .trace_low = input.pick(3)};
      change(record, input);
      box.add_record(record, fields);
      return;
    }
    case 6: {
      Record record{};
      change(record, input);
      const std::size_t written = input.byte() % (sizeof record + 1);
      box.add_raw(record, written, input.line());
      return;
    }
    default: {
      constexpr std::size_t kAreas[] = {kHeadAt,  offsetof(Head, tags), kTagTextAt, kNodesAt,
                                        kSlotsAt, kRingHeadAt,          kRingAt};
      const std::size_t at = kAreas[small % std::size(kAreas)] + (input.number() & 0x3FFF);
      box.write(at, input.line().substr(0, 4096));
      return;
    }
  }
}

}  // namespace

void fuzz::run(Input input) {
  static constexpr std::size_t kMostSteps = 1'000;
  BoxMemory box;
  box.add_set(1, 2);
  while (!input.empty()) write_something(box, input);
  Result<BlackBox> taken = BlackBox::take(box.copy());
  if (!taken) return;

  SharedSpans spans;
  const auto whole = spans.capture("tag=* died", {});
  const auto each = spans.capture("tag=*", {});
  IngestCounters counters;
  TagFinder finder{counters.unsplit};
  SpanIntake intake{spans, finder, 1'000};
  DeadProcess process;
  process.user = "user";
  process.died_at = steady_now();
  process.spans.told = spans.number();
  process.spans.last_events = 1;
  process.spans.source = std::make_shared<const SpanSource>();
  {
    Recovery recovery{intake, std::move(process), *std::move(taken)};
    std::size_t steps = 0;
    while (recovery.go_on()) require(++steps < kMostSteps);
  }
  std::uint64_t stored = 0;
  for (const auto& monitor : {whole.get(), each.get()}) {
    const SpanReading reading = monitor->read(100'000);
    stored += reading.entries.size();
    for (const auto& entry : reading.entries) {
      const StoredSpan& span = *entry.span;
      require((span.capture_bits & ~0b11u) == 0 && span.capture_bits != 0);
      require(wire::is_event(span.kind) ||
              ((span.trace_high | span.trace_low) != 0 && span.span != 0));
      require(span.duration_ns <= wire::kLatestEndNs - span.begin_ns);
      require(!span.tag->empty() && span.left_out <= UINT32_MAX / 2 + 1);
    }
  }
  // The other ones were held until their trace was wanted.
  require(spans.totals().captured <= stored);
}
