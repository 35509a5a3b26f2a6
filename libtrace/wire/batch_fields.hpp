// SPDX-License-Identifier: LGPL-2.1-or-later
// The field numbers of trace.proto, for encoder and decoder.
#pragma once

#include <protozero/types.hpp>

namespace pcp::trace::wire {

enum class HelloField : protozero::pbf_tag_type {
  Session = 1,
  Pid = 2,
  Process = 3,
  Service = 4,
  Labels = 5,
  StartTimeNs = 6
};

enum class LabelField : protozero::pbf_tag_type { Name = 1, Value = 2 };

enum class WelcomeField : protozero::pbf_tag_type {
  AgentInstance = 1,
  SessionKnown = 2,
  LastSequence = 3,
  MaxPduBytes = 4,
  MaxTags = 5,
  Features = 6,
  LastEvents = 7,
  Control = 8
};

enum class TagsField : protozero::pbf_tag_type { Tags = 1 };

enum class TagField : protozero::pbf_tag_type { Id = 1, Name = 2, Unit = 4, Description = 5 };

enum class BatchField : protozero::pbf_tag_type {
  Sequence = 1,
  FirstNs = 2,
  LastNs = 3,
  Counters = 4,
  Deltas = 5,
  InFlight = 6,
  InFlightAnew = 7
};

enum class CountersField : protozero::pbf_tag_type {
  Recorded = 1,
  Sent = 2,
  Merged = 3,
  Thinned = 4,
  Uncertain = 5,
  Reconnects = 6
};

enum class DeltaField : protozero::pbf_tag_type {
  Tag = 1,
  Type = 2,
  Count = 3,
  Aborts = 4,
  Nonfinite = 5,
  Last = 6,
  Sum = 7,
  Min = 8,
  Max = 9,
  Histogram = 10,
  Added = 11
};

enum class InFlightField : protozero::pbf_tag_type { Tag = 1, Open = 2, OldestNs = 3, Tid = 4 };

enum class BatchAckField : protozero::pbf_tag_type { Sequence = 1 };

enum class ByeField : protozero::pbf_tag_type { Reason = 1 };

}  // namespace pcp::trace::wire
