// SPDX-License-Identifier: LGPL-2.1-or-later
// One recording: its folder and archive, and the recorder's samples, in step with the source's
// intervals.
//
// Thread: the main one.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "command/archive/recording_folder.hpp"
#include "command/record/event_recorder.hpp"
#include "command/record/recorder.hpp"
#include "command/record/wall_clock.hpp"

namespace pcp::trace::command {

class Recording {
 public:
  struct Settings {
    std::string folder;  // empty: a new one named after `what`
    std::string what;
    std::string host;  // the recorded host
    std::optional<ArchiveVersion> version;
    Duration interval{};
    Instant begin{};  // begin of the first interval
  };

  // Makes the folder, and writes a first sample from before the first interval.
  static Result<std::unique_ptr<Recording>> begin(const Settings& settings, Source& source);

  // When to read next: some time after an interval's end, so that its data has arrived, or earlier
  // so that events do not wait long.
  Instant next() const;

  // Returns why nothing can be read now; the archive then has a gap.
  Result<void> take_next();

  // Writes the last sample, with everything. `missing` tells why the recording is incomplete
  // although nothing failed here; empty: complete. The archive's last record has this text, or the
  // failure that ended the recording, which is also returned.
  Result<void> finish(const std::string& missing = "");

  // Removes the recording.
  void take_back() const { folder_.remove(); }

  const RecordingFolder& folder() const { return folder_; }

  // The number of spans and events without room in the archive.
  std::uint64_t events_left_out() const { return events_.left_out(); }

 private:
  Recording(const Settings& settings, RecordingFolder folder, ArchiveWriter writer, Source& source,
            WallClock clock, Stamp begin);
  Result<void> take(Recorder::Extent extent, Instant now);
  Result<void> take_events(Stamp at, Instant now);
  Instant next_sample() const;
  Instant boundary(std::int64_t interval) const;
  Duration between_distributions(Instant now) const;

  Duration interval_;
  Instant begin_;
  std::int64_t intervals_ = 0;  // in the archive
  Instant distributions_at_;
  RecordingFolder folder_;
  WallClock clock_;
  ArchiveWriter writer_;
  Recorder recorder_;
  EventRecorder events_;
  Instant events_at_{};  // last reading of events
  bool has_gap_ = false;
};

}  // namespace pcp::trace::command
