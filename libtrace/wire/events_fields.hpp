// SPDX-License-Identifier: LGPL-2.1-or-later
// The field numbers of trace.proto for captures, and the codec parts that WELCOME uses.
#pragma once

#include <string>
#include <string_view>

#include <protozero/types.hpp>

#include "wire/events.hpp"

namespace pcp::trace::wire {

enum class ControlField : protozero::pbf_tag_type { Number = 1, Captures = 2, MostASecond = 3 };

enum class CaptureField : protozero::pbf_tag_type { Id = 1, Place = 2, Filter = 3 };

enum class EventsField : protozero::pbf_tag_type {
  Sequence = 1,
  Control = 2,
  Spans = 3,
  Counts = 4
};

enum class CaptureCountField : protozero::pbf_tag_type {
  Capture = 1,
  Captured = 2,
  MissedFull = 3,
  MissedLimit = 4,
  MissedWaiting = 5,
  MissedAway = 6
};

enum class SpanField : protozero::pbf_tag_type {
  Tag = 1,
  Kind = 2,
  BeginNs = 3,
  DurationNs = 4,
  TraceHigh = 5,
  TraceLow = 6,
  Span = 7,
  Parent = 8,
  Flags = 9,
  Tid = 10,
  Places = 11,
  Aborted = 12,
  Reason = 13,
  Attributes = 14,
  Links = 15,
  LeftOut = 16,
  Value = 17
};

enum class AttributeField : protozero::pbf_tag_type { Key = 1, Text = 2, Number = 3 };

enum class LinkField : protozero::pbf_tag_type { TraceHigh = 1, TraceLow = 2, Span = 3 };

enum class EventsAckField : protozero::pbf_tag_type { Sequence = 1 };

// Writes only the message, which is also a field of WELCOME.
void write_control(std::string& out, const Control& control);

// False if a limit is exceeded. May throw protozero's exceptions.
bool read_control(std::string_view payload, Control& control);

}  // namespace pcp::trace::wire
