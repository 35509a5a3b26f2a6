// SPDX-License-Identifier: LGPL-2.1-or-later
// The numbers of OTLP's protobuf fields that we send or read, by message.
#pragma once

#include <protozero/types.hpp>

namespace pcp::trace::command::otlp {

using Field = protozero::pbf_tag_type;

// Requests for both signals, and each of their resources, have the same shape.
inline constexpr Field kRequestResources = 1;
inline constexpr Field kResourceOf = 1, kScopeItems = 2;  // of such a resource
inline constexpr Field kScope = 1, kItems = 2;            // of its items
inline constexpr Field kResourceAttributes = 1;
inline constexpr Field kScopeName = 1, kScopeVersion = 2;
inline constexpr Field kResponsePartialSuccess = 1;
inline constexpr Field kPartialRejected = 1, kPartialMessage = 2;
inline constexpr Field kStatusMessage = 2;  // of an answer that refuses, and of a span

inline constexpr Field kKey = 1, kValue = 2;
inline constexpr Field kText = 1, kInteger = 3, kDouble = 4;  // of a value

namespace span {
inline constexpr Field kTrace = 1, kSpan = 2, kParent = 4, kName = 5, kKind = 6, kBegin = 7,
                       kEnd = 8, kAttributes = 9, kLeftOut = 10, kEvents = 11, kLinks = 13,
                       kStatus = 15, kFlags = 16;
inline constexpr Field kEventTime = 1, kEventName = 2, kEventAttributes = 3;
inline constexpr Field kLinkTrace = 1, kLinkSpan = 2;
inline constexpr Field kStatusCode = 3;
inline constexpr int kInternal = 1, kServer = 2, kClient = 3;
inline constexpr int kError = 2;
inline constexpr std::uint32_t kKnowsWhereParentIs = 0x100, kParentIsRemote = 0x200;
}  // namespace span

namespace metric {
inline constexpr Field kName = 1, kDescription = 2, kUnit = 3, kGauge = 5, kSum = 7,
                       kExponentialHistogram = 10;
inline constexpr Field kPoints = 1, kTemporality = 2, kIsMonotonic = 3;
inline constexpr int kCumulative = 2;
}  // namespace metric

namespace number {
inline constexpr Field kStart = 2, kTime = 3, kDouble = 4, kInteger = 6, kAttributes = 7;
}

namespace histogram {
inline constexpr Field kAttributes = 1, kStart = 2, kTime = 3, kCount = 4, kSum = 5, kScale = 6,
                       kZeroCount = 7, kPositive = 8, kNegative = 9, kExemplars = 11;
inline constexpr Field kOffset = 1, kCounts = 2;
}  // namespace histogram

namespace exemplar {
inline constexpr Field kTime = 2, kDouble = 3, kSpan = 4, kTrace = 5;
}

}  // namespace pcp::trace::command::otlp
