// SPDX-License-Identifier: LGPL-2.1-or-later
// The item numbers of event parameters: each parameter is a metric of cluster 5. And the values of
// kKindParam.
#pragma once

#include <array>
#include <cstddef>

#include "wire/events.hpp"

namespace pcp::trace::agent {

inline constexpr unsigned kSpanCluster = 5;

enum SpanItem : unsigned {
  kEventsItem = 0,
  kSpanParam,
  kParentParam,
  kTraceParam,
  kTagParam,
  kServiceParam,
  kProcessParam,
  kHostParam,
  kAttributesParam,
  kLinksParam,
  kReasonParam,
  kKindParam,
  kStatusParam,
  kPidParam,
  kTidParam,
  kFlagsParam,
  kMissingParam,
  kTimeParam,
  kDurationParam,
  kValueParam,
  kSpanItems,  // the number of items
};

inline constexpr std::array kSpanKindNames{"transact", "server",  "client", "point",
                                           "observe",  "counter", "add"};

constexpr const char* name_of(wire::SpanKind kind) {
  return kSpanKindNames[static_cast<std::size_t>(kind)];
}

// True for the metric of events and its parameters.
inline constexpr bool is_of_events(unsigned cluster, unsigned item) {
  return cluster == kSpanCluster && item < kSpanItems;
}

}  // namespace pcp::trace::agent
