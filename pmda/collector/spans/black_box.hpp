// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads the black box of a process that has died (wire/black_box.hpp): what it could not say. The
// memory may be a stranger's, and may change at any time. So it is copied piece by piece and never
// mapped, each number is checked, and what is wrong is left out.
//
// Thread: the ingest thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/descriptor.hpp"
#include "base/result.hpp"
#include "collector/spans/stored_span.hpp"
#include "wire/black_box.hpp"

namespace pcp::trace::agent {

class BlackBox {
 public:
  // Takes a descriptor that a process has sent. The error says what is wrong with it.
  static Result<BlackBox> take(Descriptor memory);

  int descriptor() const { return memory_.get(); }
  std::uint64_t ring_bytes() const { return ring_bytes_; }

 private:
  BlackBox(Descriptor memory, std::uint64_t ring_bytes)
      : memory_(std::move(memory)), ring_bytes_(ring_bytes) {}

  Descriptor memory_;
  std::uint64_t ring_bytes_;
};

// A span or an event in a black box. Its texts are valid until the reader goes on.
struct BoxSpan {
  wire::Span span;              // its tag_id is the tag's number in the box, or kUnknownTag
  std::string_view tag;         // as the process wrote it
  std::uint64_t control = 0;    // number of the Control of all bits
  CaptureBits is_sure = 0;      // of those, captures that want it
  CaptureBits wants_trace = 0;  // captures for which it was a reason
  CaptureBits may_want_it = 0;  // captures for which it is a reason with these, if it was open
  std::uint32_t reasons = 0;

  bool was_open() const { return (span.flags & wire::kWasOpen) != 0; }
};

class BoxReader {
 public:
  static constexpr std::uint32_t kUnknownTag = UINT32_MAX;

  // `last_events`: the sequence of the last EVENTS that the process has sent; `died_ns`: when it
  // died, by the monotonic clock; nothing: it is not known whether transactions were open then.
  BoxReader(BlackBox box, std::uint64_t last_events, std::optional<std::uint64_t> died_ns)
      : box_(std::move(box)), last_events_(last_events), died_ns_(died_ns) {}

  using Visit = std::function<void(const BoxSpan&)>;

  // Reads a part, at most some hundred KB. False if that was the last one. First come the spans of
  // the ring, the oldest first, then ended ones that the process had not looked at yet, then open
  // ones.
  bool read_on(const Visit& visit);

  // Counts of a capture, as the process said them or later. Zeros if there are none.
  wire::CaptureCount missed_of(std::uint64_t capture) const;

  // The ring's numbers are wrong, so some of it was not read.
  bool is_ring_torn() const { return is_ring_torn_; }

 private:
  using Part = bool (BoxReader::*)(const Visit&);
  bool read_head(const Visit&);
  bool read_tags(const Visit&);
  bool read_ring(const Visit& visit);
  bool read_nodes(const Visit& visit);
  bool read_slots(const Visit& visit);

  std::string_view read(std::size_t at, std::size_t most);
  template <typename Element, typename Use>
  bool read_elements(std::size_t at, std::size_t bytes, Use use);
  void use(const wire::box::Record& record, std::string_view fields, const Visit& visit);
  void use(const wire::box::Node& node, const Visit& visit);
  void use(const wire::box::Slot& slot, const Visit& visit);
  std::uint64_t control_of(std::uint32_t epoch, std::uint32_t mask) const;
  void set_tag(BoxSpan& found, std::uint32_t id);
  void set_tag_at(BoxSpan& found, std::uint64_t address);

  // As in the memory, without atomics.
  struct Set {
    std::uint64_t control;
    std::uint32_t epoch;
  };
  struct Tag {
    std::uint64_t address;
    std::uint32_t text_at;
    std::uint32_t length;
  };
  struct Missed {
    std::uint64_t capture;
    std::uint64_t full;
    std::uint64_t limit;
    std::uint64_t waiting;
    std::uint64_t away;
  };
  static_assert(sizeof(Set) == sizeof(wire::box::Set) && sizeof(Tag) == sizeof(wire::box::Tag) &&
                sizeof(Missed) == sizeof(wire::box::Missed));

  BlackBox box_;
  const std::uint64_t last_events_;
  std::optional<std::uint64_t> died_ns_;
  std::uint64_t wall_minus_monotonic_ = 0;
  std::array<Set, wire::box::Head::kSets> sets_{};
  std::array<Missed, wire::box::Head::kMissed> missed_{};
  std::vector<Tag> tags_;                                            // by their ids
  std::vector<std::pair<std::uint64_t, std::uint32_t>> by_address_;  // sorted
  std::size_t part_ = 0;                                             // that is read now
  std::size_t next_ = 0;                                             // offset in its area
  std::uint64_t position_ = 0;                                       // in the ring
  std::uint64_t head_ = 0;
  bool is_ring_torn_ = false;
  std::string bytes_;   // the last piece read
  std::string tag_;     // the last tag read
  std::string fields_;  // of the last record
  wire::Events decoded_;
};

}  // namespace pcp::trace::agent
