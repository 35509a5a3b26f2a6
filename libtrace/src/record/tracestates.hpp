// SPDX-License-Identifier: LGPL-2.1-or-later
// The headers tracestate of the requests that came in: what other tracing systems have to say to
// each other, which is passed on as it is. Kept apart from the transactions, since it may be long.
//
// There is room for the last so many; older ones are forgotten.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "record/made_when_needed.hpp"

namespace pcp::trace::client {

// Thread: any.
class Tracestates {
 public:
  static constexpr std::size_t kMostBytes = 512;  // of one
  static constexpr std::size_t kMostTexts = 4096;

  // Stands for one of them, in 24 bits: after as many the first ones come again.
  using Reference = std::uint32_t;
  static constexpr Reference kNone = 0;
  static constexpr Reference kLast = (1u << 24) - 1;

  // Keeps what is passed on of a trace's header: all of it or, where it is long, less of its
  // members. None if it is not valid, or if there is no memory.
  Reference keep(std::string_view header, std::uint64_t trace_low);

  using Text = std::array<char, kMostBytes + 1>;

  // Writes it with a NUL, and gives its length; 0 if it was forgotten.
  std::size_t copy(Reference reference, std::uint64_t trace_low, Text& text) const;

 private:
  struct Slot {
    // Released by the writer, and looked at before and after reading. None while it is written:
    // whoever acquires a word of the next text sees that, too.
    std::atomic<Reference> holds;
    std::array<std::atomic<std::uint64_t>, kMostBytes / sizeof(std::uint64_t)> words;
    std::atomic<std::uint32_t> length;
    std::atomic<std::uint64_t> trace_low;  // for references that have come again
    std::atomic<bool> is_being_written;
  };
  using Slots = std::array<Slot, kMostTexts>;

  MadeWhenNeeded<Slots> slots_;
  std::atomic<Reference> last_{kNone};  // given so far; stands for itself
};

// Those of this process.
extern constinit Tracestates tracestates;

// What is passed on of such a header. Writes at most kMostBytes, and gives how many; 0 if nothing
// is to be passed on.
std::size_t pass_on_tracestate(std::string_view header, Tracestates::Text& text);

}  // namespace pcp::trace::client
