// SPDX-License-Identifier: LGPL-2.1-or-later
#include "delivery/counter_watch.hpp"

#include <exception>
#include <string>

#include "delivery/diagnostics.hpp"

namespace pcp::trace::client {

// A counter of what never happens is reported as 0 for ever: nobody means "add 0".
void CounterWatch::look_closer(const Tag& tag, double before, double value,
                               const Recorder& recorder) noexcept {
  Watched& watched = tags_[tag.id];
  if (is_said_) return;
  const bool is_equal = value == before && value != 0;
  const bool is_down =
      value < before && watched.recorder == &recorder && !recorder.has_changed_hands();
  watched.repeats = is_equal ? watched.repeats + 1 : 0;
  if (!is_down && watched.repeats + 1 < kEqualValues) return;
  is_said_ = true;
  try {
    complain("the counter \"" + std::string(name_of(tag)) + "\" " +
             (is_down ? "goes down" : "has had the same value 1000 times") +
             ". pmtrace_count() and pmtracecounter() take its value so far;"
             " to add to it, call pmtrace_add().");
  } catch (const std::exception&) {
  }
}

}  // namespace pcp::trace::client
