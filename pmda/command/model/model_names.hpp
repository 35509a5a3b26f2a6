// SPDX-License-Identifier: LGPL-2.1-or-later
// Names of a model's enumerators in documents.
#pragma once

#include <array>

#include "command/model/model.hpp"

namespace pcp::trace::command {

inline const char* type_name(TraceType type) {
  constexpr std::array kNames{"transact", "point", "observe", "counter"};
  return kNames[index_of(type)];
}

inline const char* source_name(PercentileSource source) {
  switch (source) {
    case PercentileSource::Histogram:
      return "histogram";
    case PercentileSource::NearlyAllCalls:
      return "histogram of nearly all calls";
    case PercentileSource::WholeIntervals:
      return "histogram of whole intervals";
    case PercentileSource::OneValue:
      return "one value";
    case PercentileSource::OneWindow:
      return "one window";
    case PercentileSource::NoCalls:
      return "no calls";
    case PercentileSource::NoFiniteValues:
      return "no finite values";
    case PercentileSource::NotRecorded:
      return "not recorded";
    case PercentileSource::SeveralWindows:
      return "several windows";
    case PercentileSource::SeveralHosts:
      return "several hosts";
    case PercentileSource::IncompleteHistogram:
      return "incomplete histogram";
  }
  return "";
}

}  // namespace pcp::trace::command
