// SPDX-License-Identifier: LGPL-2.1-or-later
// Writes an agent's events into an archive, one record per reading, as long as there is room. The
// rest is counted, in the archive and here.
//
// Thread: one.
#pragma once

#include <cstdint>

#include "command/pcp/archive_writer.hpp"
#include "command/record/recorded_agent.hpp"

namespace pcp::trace::command {

class EventWriter {
 public:
  // About 300,000 spans.
  static constexpr std::uint64_t kMostBytes = 128u << 20;

  EventWriter(RecordedAgent& agent, ArchiveWriter& writer, std::uint64_t most_bytes = kMostBytes)
      : agent_(agent), writer_(writer), most_bytes_(most_bytes) {}

  // Writes all events since the last call.
  Result<void> drain(Stamp at, Instant now);

  // The number of spans and events without room.
  std::uint64_t left_out() const { return left_out_; }

 private:
  void take(Stamp at, const Sample& sample);
  void write_missed(Stamp at, pmID metric, std::uint64_t missed);

  RecordedAgent& agent_;
  ArchiveWriter& writer_;
  const std::uint64_t most_bytes_;
  std::uint64_t bytes_ = 0;  // written
  std::uint64_t left_out_ = 0;
};

}  // namespace pcp::trace::command
