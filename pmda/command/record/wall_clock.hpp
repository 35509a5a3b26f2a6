// SPDX-License-Identifier: LGPL-2.1-or-later
// Stamps for an archive, which never decrease although the wall clock may be set back.
#pragma once

#include <algorithm>

#include "base/clock.hpp"
#include "command/archive/archive_records.hpp"

namespace pcp::trace::command {

class WallClock {
 public:
  // At least the previous stamp.
  Stamp now() {
    const timespec now = to_timespec(wall_now().time_since_epoch());
    last_ = std::max(last_, Stamp{now.tv_sec, static_cast<std::int32_t>(now.tv_nsec)});
    return last_;
  }

 private:
  Stamp last_;
};

}  // namespace pcp::trace::command
