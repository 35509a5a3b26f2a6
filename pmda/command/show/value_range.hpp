// SPDX-License-Identifier: LGPL-2.1-or-later
// The known bounds of a tag's value, which are equal if the value is exact.
#pragma once

#include <optional>

#include "command/run/figures.hpp"
#include "command/run/model.hpp"

namespace pcp::trace::command {

struct ValueRange {
  double least;
  double greatest;
};

inline std::optional<ValueRange> exactly(const std::optional<double>& value) {
  if (!value) return {};
  return ValueRange{*value, *value};
}

// Nothing: unknown, or not of this type. A percentile's range holds for any values of the calls
// that the distribution lacks.
std::optional<ValueRange> range_of(const Tag& tag, Figure figure);

// The values of all calls of a tag, and its failed share in percent, if any calls of other tags may
// be its own.
ValueRange mixed_with(const ValueRange& own, const Tag& others);
ValueRange failed_percent_with(const Tag& tag, const Tag& others);

// The newer value in percent of the older one, rounded once: +0.1% is 100.1. Nothing: the older
// value may be zero or negative.
std::optional<ValueRange> percent_of(const ValueRange& before, const ValueRange& now);

}  // namespace pcp::trace::command
