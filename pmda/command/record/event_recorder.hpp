// SPDX-License-Identifier: LGPL-2.1-or-later
// Writes the events of a source into an archive, each reading as a record of its own, as much as
// there is room for. What is left out is counted, there and here.
//
// Thread: one.
#pragma once

#include <cstddef>
#include <cstdint>

#include "command/archive/archive_writer.hpp"
#include "command/record/source.hpp"

namespace pcp::trace::command {

class EventRecorder {
 public:
  // Some 300,000 spans.
  static constexpr std::uint64_t kMostBytes = 128u << 20;

  EventRecorder(Source& source, ArchiveWriter& writer, std::uint64_t most_bytes = kMostBytes)
      : source_(source), writer_(writer), most_bytes_(most_bytes) {}

  // Writes what has come since the last time, until there is no more.
  Result<void> drain(Stamp at, agent::Time now);

  // Spans and events for which there was no room.
  std::uint64_t left_out() const { return left_out_; }

 private:
  void take(Stamp at, const Sample& sample);
  void write_missed(Stamp at, pmID metric, std::uint64_t missed);

  Source& source_;
  ArchiveWriter& writer_;
  const std::uint64_t most_bytes_;
  std::uint64_t bytes_ = 0;  // written
  std::uint64_t left_out_ = 0;
};

}  // namespace pcp::trace::command
