// SPDX-License-Identifier: LGPL-2.1-or-later
// The texts of tags' cumulative histograms, limited per answer: pmcd drops an agent that takes too
// long for an answer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "collector/reader.hpp"
#include "metrics/value_reader.hpp"

namespace pcp::trace::agent {

// Thread: the main one.
class HistogramTexts {
 public:
  static constexpr std::size_t kMaxBytes = 16u << 20;  // per answer

  explicit HistogramTexts(Reader reader) : reader_(reader) {}

  void begin_answer() { room_ = kMaxBytes; }

  // Hands out the texts of `wanted` tags; each text counts `times` times against the limit. The
  // first call starts the histograms.
  void of(TraceType type, std::size_t times, Instant now,
          const std::function<bool(std::int32_t)>& wanted,
          const std::function<void(std::int32_t, const HistogramText&)>& take);

  // Texts left out, in all answers so far: the answer was full, or the tag has no histogram.
  std::uint64_t left_out() const { return left_out_; }

 private:
  bool has_room_for(std::size_t bytes);

  Reader reader_;
  std::size_t room_ = kMaxBytes;
  std::uint64_t left_out_ = 0;
};

}  // namespace pcp::trace::agent
