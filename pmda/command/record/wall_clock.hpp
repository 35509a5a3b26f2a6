// SPDX-License-Identifier: LGPL-2.1-or-later
// Stamps for an archive, which must never go backwards although the wall clock may be set.
#pragma once

#include <algorithm>

#include "collector/engine/clock.hpp"
#include "command/archive/archive_records.hpp"

namespace pcp::trace::command {

class WallClock {
 public:
  // Not before the last one.
  Stamp now() {
    constexpr std::int64_t kNanoseconds = 1'000'000'000;
    const std::int64_t now = agent::wall_now().count();
    last_ =
        std::max(last_, Stamp{now / kNanoseconds, static_cast<std::int32_t>(now % kNanoseconds)});
    return last_;
  }

 private:
  Stamp last_;
};

}  // namespace pcp::trace::command
