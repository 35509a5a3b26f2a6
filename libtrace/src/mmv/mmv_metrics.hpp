// SPDX-License-Identifier: LGPL-2.1-or-later
// The metrics of an MMV file.
#pragma once

#include <cstdint>
#include <span>

#include "mmv/mmv_totals.hpp"

namespace pcp::trace::client {

// Numbers of PCP, in mmv(5) and PMAPI(3).
enum class MmvType : std::int32_t { Unsigned64 = 3, Double = 5 };
enum class MmvSemantics : std::int32_t { Counter = 1, Gauge = 3 };
enum class MmvUnits : std::uint32_t { None = 0, Count = 1 << 20, Seconds = 1 << 24 | 3 << 12 };

// The instance has no value of the metric. No number says that to every version of pmdammv, so the
// value gets no room in the file.
inline constexpr std::uint64_t kNoMmvValue = ~std::uint64_t{0};

struct MmvMetric {
  const char* name;
  TraceType type;
  std::uint32_t item;  // never changes, and is unique
  MmvType value;
  MmvSemantics semantics;
  MmvUnits units;
  const char* line;  // of help
  const char* text;  // at most 255 bytes, as the line and the name
  // The eight bytes of the value, or kNoMmvValue.
  std::uint64_t (*bits)(const MmvInstance&);
};

std::span<const MmvMetric> mmv_metrics(TraceType type);

}  // namespace pcp::trace::client
