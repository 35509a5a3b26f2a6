// SPDX-License-Identifier: LGPL-2.1-or-later
// The units of the metrics.
#pragma once

#include "metrics/pmapi.hpp"

namespace pcp::trace::agent {

inline constexpr pmUnits kNoUnits = pmapi::units(0, 0, 0, 0, 0, 0);
inline constexpr pmUnits kCount = pmapi::units(0, 0, 1, 0, 0, PM_COUNT_ONE);
inline constexpr pmUnits kPerSecond = pmapi::units(0, -1, 1, 0, PM_TIME_SEC, PM_COUNT_ONE);
inline constexpr pmUnits kSeconds = pmapi::units(0, 1, 0, 0, PM_TIME_SEC, 0);
inline constexpr pmUnits kSecondsEach = pmapi::units(0, 1, -1, 0, PM_TIME_SEC, PM_COUNT_ONE);
inline constexpr pmUnits kNanoseconds = pmapi::units(0, 1, 0, 0, PM_TIME_NSEC, 0);
inline constexpr pmUnits kBytes = pmapi::units(1, 0, 0, PM_SPACE_BYTE, 0, 0);

}  // namespace pcp::trace::agent
