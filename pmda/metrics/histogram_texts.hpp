// SPDX-License-Identifier: LGPL-2.1-or-later
// The texts of tags' cumulative histograms, as many as there is room for in one answer: pmcd drops
// an agent that takes too long over it.
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
  static constexpr std::size_t kMaxBytes = 16u << 20;  // in one answer

  explicit HistogramTexts(Reader reader) : reader_(reader) {}

  void begin_answer() { room_ = kMaxBytes; }

  // Hands out those of the tags that are `wanted`, each of which goes so many times into the
  // answer. From the first call on there are any.
  void of(TraceType type, std::size_t times, Time now,
          const std::function<bool(std::int32_t)>& wanted,
          const std::function<void(std::int32_t, const HistogramText&)>& take);

  // How many were left out, of all answers: for lack of room in it, or because the tag has none.
  std::uint64_t left_out() const { return left_out_; }

 private:
  bool has_room_for(std::size_t bytes);

  Reader reader_;
  std::size_t room_ = kMaxBytes;
  std::uint64_t left_out_ = 0;
};

}  // namespace pcp::trace::agent
