// SPDX-License-Identifier: LGPL-2.1-or-later
#include "metrics/histogram_texts.hpp"

#include "collector/engine/cumulative_histogram.hpp"

namespace pcp::trace::agent {

void HistogramTexts::of(TraceType type, std::size_t times, Instant now,
                        const std::function<bool(std::int32_t)>& wanted,
                        const std::function<void(std::int32_t, const HistogramText&)>& take) {
  reader_.begin_cumulative(now);
  reader_.cumulative(
      type, now,
      [&](std::int32_t instance) {
        if (!wanted(instance)) return false;
        if (room_ == 0) ++left_out_;
        return room_ > 0;
      },
      [&](CumulativeSample&& sample) {
        const HistogramText text{cumulative_histogram_text(
            static_cast<std::uint64_t>(reader_.wall_time(sample.since).time_since_epoch().count()),
            sample.count, sample.unbinned, sample.packed)};
        if (sample.left_out)
          ++left_out_;
        else if (has_room_for(times * text.text.size()))
          take(sample.instance, text);
      });
}

// After the first text without room, no more texts are copied.
bool HistogramTexts::has_room_for(std::size_t bytes) {
  if (bytes <= room_) {
    room_ -= bytes;
    return true;
  }
  room_ = 0;
  ++left_out_;
  return false;
}

}  // namespace pcp::trace::agent
