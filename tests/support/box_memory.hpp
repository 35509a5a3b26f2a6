// SPDX-License-Identifier: LGPL-2.1-or-later
// A black box as a process leaves it, written field by field.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "base/descriptor.hpp"
#include "wire/black_box.hpp"

namespace pcp::trace {

class BoxMemory {
 public:
  static constexpr unsigned kSeals = F_SEAL_SHRINK | F_SEAL_GROW;

  explicit BoxMemory(std::uint64_t ring_bytes = 4096, unsigned seals = kSeals)
      : ring_bytes_(ring_bytes), memory_(::memfd_create("box", MFD_CLOEXEC | MFD_ALLOW_SEALING)) {
    resize(wire::box::file_bytes(ring_bytes));
    put(offsetof(wire::box::Head, layout), wire::box::kLayout);
    put(offsetof(wire::box::Head, ring_bytes), ring_bytes);
    if (seals != 0) ::fcntl(memory_.get(), F_ADD_SEALS, seals);
  }

  int descriptor() const { return memory_.get(); }
  Descriptor copy() const { return Descriptor(::fcntl(memory_.get(), F_DUPFD_CLOEXEC, 0)); }
  void resize(std::size_t bytes) {
    if (::ftruncate(memory_.get(), static_cast<off_t>(bytes)) != 0) return;
  }

  void write(std::size_t at, std::string_view bytes) {
    if (::pwrite(memory_.get(), bytes.data(), bytes.size(), static_cast<off_t>(at)) < 0) return;
  }
  template <typename Value>
  void put(std::size_t at, const Value& value) {
    write(at, {reinterpret_cast<const char*>(&value), sizeof value});
  }

  void set_clock(std::int64_t wall_minus_monotonic) {
    put(offsetof(wire::box::Head, wall_minus_monotonic), wall_minus_monotonic);
  }
  void add_set(std::uint32_t epoch, std::uint64_t control) {
    using wire::box::Head, wire::box::Set;
    const std::size_t at = offsetof(Head, sets) + epoch % Head::kSets * sizeof(Set);
    put(at + offsetof(Set, control), control);
    put(at + offsetof(Set, epoch), epoch);
  }
  void put_missed(std::size_t index, const wire::CaptureCount& count) {
    using wire::box::Head, wire::box::Missed;
    put(offsetof(Head, missed) + index * sizeof(Missed),
        std::array{count.capture, count.missed_full, count.missed_limit, count.missed_waiting,
                   count.missed_away});
  }
  void add_tag(std::uint32_t id, std::uint64_t address, std::string_view text) {
    add_tag_at(id, address, tag_bytes_, static_cast<std::uint32_t>(text.size()));
    write(wire::box::kTagTextAt + tag_bytes_, text);
    tag_bytes_ += static_cast<std::uint32_t>(text.size());
  }
  void add_tag_at(std::uint32_t id, std::uint64_t address, std::uint32_t at, std::uint32_t length) {
    using wire::box::Head, wire::box::Tag;
    const std::size_t tag = offsetof(Head, tags) + id * sizeof(Tag);
    put(tag + offsetof(Tag, address), address);
    put(tag + offsetof(Tag, text_at), at);
    put(tag + offsetof(Tag, length), length);
  }
  void put_node(std::size_t index, const wire::box::Node& node) {
    put(wire::box::kNodesAt + index * sizeof node, node);
  }
  void put_slot(std::size_t index, const wire::box::Slot& slot) {
    put(wire::box::kSlotsAt + index * sizeof slot, slot);
  }

  // Moves the ring's ends; then records go to its head. One that would go over the end of the
  // memory goes behind a gap.
  void begin_ring(std::uint64_t position) {
    head_ = position;
    put(wire::box::kRingHeadAt, position);
    set_head(position);
  }
  void set_head(std::uint64_t head) { put(wire::box::kRingHeadAt + sizeof head, head); }
  void add_record(wire::box::Record record, std::string_view fields) {
    record.bytes = static_cast<std::uint16_t>(sizeof record + fields.size());
    if (head_ % ring_bytes_ + record.bytes > ring_bytes_)
      add_raw({.bytes = static_cast<std::uint16_t>(ring_bytes_ - head_ % ring_bytes_),
               .tag_and_flags = wire::box::kGap},
              8, {});
    add_raw(record, sizeof record, fields);
  }
  void add_raw(const wire::box::Record& record, std::size_t written, std::string_view fields) {
    const std::size_t at = wire::box::kRingAt + head_ % ring_bytes_;
    write(at, {reinterpret_cast<const char*>(&record), written});
    write(at + written, fields);
    head_ += (record.bytes + 7u) / 8 * 8;
    set_head(head_);
  }

 private:
  std::uint64_t ring_bytes_;
  Descriptor memory_;
  std::uint32_t tag_bytes_ = 0;
  std::uint64_t head_ = 0;
};

}  // namespace pcp::trace
