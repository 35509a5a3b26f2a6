// SPDX-License-Identifier: LGPL-2.1-or-later
// Detects a common mistake: a counter takes a running total, and count(tag, 1) for "one more"
// leaves it at 1. Complains once about many equal values in a row, or a falling value, and names
// the call that adds.
//
// Values of several threads come in any order, so each is compared with the one before it in the
// same recorder. Only the first million values of a process are checked: the mistake shows from the
// beginning, and the check costs time.
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

  // Room for tags below this id. Throws if there is no memory.
  void make_room(std::uint32_t end_of_ids) {
    if (values_left_ > 0 && end_of_ids > last_.size()) last_.resize(end_of_ids);
  }

  // Checks a counter's value from this recorder. Requires: room for its tag.
  void look(const Record& record, const Recorder& recorder) {
    if (values_left_ > 0) [[unlikely]]
      look_at(record, recorder);
  }

 private:
  struct Last {
    const Recorder* recorder = nullptr;
    double value = 0;
    std::uint32_t times = 0;  // in a row
  };

  void look_at(const Record& record, const Recorder& recorder) noexcept;
  void end_with(const Tag& tag, const char* what) noexcept;

  std::vector<Last> last_;  // by the tag's id
  std::uint32_t values_left_ = 1'000'000;
};

}  // namespace pcp::trace::client
