// SPDX-License-Identifier: LGPL-2.1-or-later
// The units of the metrics.
#pragma once

#include <pcp/pmapi.h>
#include <pcp/pmda.h>

namespace pcp::trace::agent {

inline constexpr pmUnits kNoUnits = PMDA_PMUNITS(0, 0, 0, 0, 0, 0);
inline constexpr pmUnits kCount = PMDA_PMUNITS(0, 0, 1, 0, 0, PM_COUNT_ONE);
inline constexpr pmUnits kPerSecond = PMDA_PMUNITS(0, -1, 1, 0, PM_TIME_SEC, PM_COUNT_ONE);
inline constexpr pmUnits kSeconds = PMDA_PMUNITS(0, 1, 0, 0, PM_TIME_SEC, 0);
inline constexpr pmUnits kSecondsEach = PMDA_PMUNITS(0, 1, -1, 0, PM_TIME_SEC, PM_COUNT_ONE);
inline constexpr pmUnits kNanoseconds = PMDA_PMUNITS(0, 1, 0, 0, PM_TIME_NSEC, 0);
inline constexpr pmUnits kBytes = PMDA_PMUNITS(1, 0, 0, PM_SPACE_BYTE, 0, 0);

}  // namespace pcp::trace::agent
