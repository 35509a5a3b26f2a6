// SPDX-License-Identifier: LGPL-2.1-or-later
// Looks for a common mistake: a counter's value is a running total, and count(tag, 1) for "one
// more" leaves it at 1. Many equal values in a row, or one that goes down, are said once, with the
// name of the call that adds.
//
// Values of several threads come in any order, so down is only what goes down in one recorder.
//
// Thread: the flusher's.
#pragma once

#include <cstdint>
#include <vector>

#include "record/recorder.hpp"

namespace pcp::trace::client {

class CounterWatch {
 public:
  static constexpr std::uint32_t kEqualValues = 1000;

  // For tags below this id. Throws if there is no memory for it.
  void make_room(std::uint32_t end_of_ids) {
    if (end_of_ids > tags_.size()) tags_.resize(end_of_ids);
  }

  // Takes a counter's value, of which the last one was `before`. Requires: there is room.
  void look(const Tag& tag, double before, double value, const Recorder& recorder) {
    Watched& watched = tags_[tag.id];
    if (!(value > before)) [[unlikely]]
      look_closer(tag, before, value, recorder);
    else
      watched.repeats = 0;
    watched.recorder = &recorder;
  }

  // The last value was none that a queue has kept.
  void look_away(const Tag& tag) { tags_[tag.id] = {}; }

 private:
  struct Watched {
    const Recorder* recorder = nullptr;  // that the last value is from
    std::uint32_t repeats = 0;           // of the last value
  };

  void look_closer(const Tag& tag, double before, double value, const Recorder& recorder) noexcept;

  std::vector<Watched> tags_;  // by id
  bool is_said_ = false;
};

}  // namespace pcp::trace::client
