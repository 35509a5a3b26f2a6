// SPDX-License-Identifier: LGPL-2.1-or-later
// The captures: which spans are wanted, and by whom. A capture is a filter and an audience.
// Monitors with the same filter and audience share one of 32 captures, which has a bit in each
// span. Each change gets a number; processes report the number that they knew.
//
// A value type. Filters are in canonical form: equal filters have equal text.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "collector/spans/stored_span.hpp"
#include "wire/capture_filter.hpp"

namespace pcp::trace::agent {

// The processes of a capture: those of one uid, or all if there is none.
struct Audience {
  std::optional<std::uint32_t> uid;

  bool includes(std::uint32_t process_uid) const { return !uid || *uid == process_uid; }
  bool operator==(const Audience&) const = default;
};

struct ActiveCapture {
  std::uint64_t id = 0;         // never reused; 0: the bit is free
  std::uint64_t opened_at = 0;  // number of the opening change
  std::string filter;
  wire::Capture asked;          // as processes are asked
  std::uint32_t limit = 0;      // the filter's, in spans a second from a process
  std::uint64_t slower_ns = 0;  // the filter's
  Audience audience;
  std::size_t users = 0;

  // As CaptureFilter::has_reason().
  bool has_reason() const { return slower_ns > 0 || asked.reasons != 0; }
};

// Converts a filter to its canonical form. An error explains what is wrong, in a line. `limit` is
// for a filter that names none.
Result<std::string> canonical_filter(std::string_view text,
                                     std::uint32_t limit = wire::kDefaultLimit);

class CaptureTable {
 public:
  // Limits for captures of single users, so that no user takes all bits.
  static constexpr std::size_t kMostOfAUid = 4;
  static constexpr std::size_t kMostOfAllUids = 24;

  // Adds a user to a capture, opening it if necessary, and gives its bit. Nothing without room.
  std::optional<std::size_t> open(const std::string& filter, Audience audience);

  // True if this uid has its maximum of captures.
  bool has_all_of_a_uid(Audience audience) const;

  // Removes a user of the capture. True if it was the last one, which frees the bit.
  bool close(std::size_t bit);

  const ActiveCapture& at(std::size_t bit) const { return captures_[bit]; }
  std::optional<std::size_t> bit_of(std::uint64_t id) const;
  std::size_t count() const;

  // The number of the last change. Grows, and is never 0.
  std::uint64_t number() const { return number_; }

  // The captures that a process of this uid may know, and the number of their last change.
  CaptureBits seen_by(std::uint32_t uid) const;
  std::uint64_t changed_for(std::uint32_t uid) const;

  // The subset of `bits` whose captures are unchanged since `number`, and visible to this uid.
  CaptureBits valid_bits(CaptureBits bits, std::uint64_t number, std::uint32_t uid) const;

 private:
  bool may_have_one_more(Audience audience) const;
  template <typename Counts>
  std::size_t count_of(Counts counts) const;
  void note_change(Audience audience);

  std::array<ActiveCapture, wire::kMaxCaptures> captures_;
  std::uint64_t last_id_ = 0;
  std::uint64_t number_ = 1;
  std::uint64_t changed_for_all_ = 0;
  std::map<std::uint32_t, std::uint64_t> changed_for_;  // by uid; few users use captures
};

}  // namespace pcp::trace::agent
