// SPDX-License-Identifier: LGPL-2.1-or-later
// The tracestate headers of incoming requests: data of other tracing systems, passed on unchanged.
// Kept apart from the transactions, since they may be long.
//
// Keeps the last kMostTexts; older ones are forgotten.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "platform/wiped_memory.hpp"

namespace pcp::trace::client {

// Thread: any.
class Tracestates {
 public:
  static constexpr std::size_t kMostBytes = 512;  // of one
  static constexpr std::size_t kMostTexts = 4096;

  // A text's number, in 24 bits; numbers repeat after 2^24 texts.
  using Reference = std::uint32_t;
  static constexpr Reference kNone = 0;
  static constexpr Reference kLast = (1u << 24) - 1;

  // Keeps a trace's header for passing on; a long one loses members. kNone if invalid, or if there
  // is no memory.
  Reference keep(std::string_view header, std::uint64_t trace_low);

  using Text = std::array<char, kMostBytes + 1>;

  // Writes the text with a NUL. Gives its length; 0 if it was forgotten.
  std::size_t copy(Reference reference, std::uint64_t trace_low, Text& text) const;

 private:
  struct Slot {
    // Released by the writer; read before and after the words. kNone while being written: a reader
    // that acquires a word of the next text sees that, too.
    std::atomic<Reference> holds;
    std::array<std::atomic<std::uint64_t>, kMostBytes / sizeof(std::uint64_t)> words;
    std::atomic<std::uint32_t> length;
    std::atomic<std::uint64_t> trace_low;  // detects numbers that repeat
    std::atomic<bool> is_being_written;
  };
  using Slots = std::array<Slot, kMostTexts>;

  MadeWhenNeeded<Slots> slots_;
  std::atomic<Reference> last_{kNone};  // last number given; orders nothing else
};

// This process's.
extern constinit Tracestates tracestates;

// The part of such a header to pass on. Writes at most kMostBytes and a NUL, and gives the length
// without it; 0: none.
std::size_t pass_on_tracestate(std::string_view header, Tracestates::Text& text);

}  // namespace pcp::trace::client
