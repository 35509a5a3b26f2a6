// SPDX-License-Identifier: LGPL-2.1-or-later
// One recording: the folder, the archive in it, and the samples that a recorder writes, in step
// with the intervals of what is recorded.
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
    std::string folder;  // empty: one named after `what`
    std::string what;
    std::string host;  // whose numbers they are
    std::optional<ArchiveVersion> version;
    agent::Time interval{};
    agent::Time begin{};  // of the first interval
  };

  // Makes the folder, and writes a first sample of what there is before the first interval.
  static Result<std::unique_ptr<Recording>> begin(const Settings& settings, Source& source);

  // When something is to be read next: when an interval has ended, and some time for what is on its
  // way, or earlier where events would have to wait for long.
  agent::Time next() const;

  // Gives why nothing can be read now. Then the archive has a gap.
  Result<void> take_next();

  // The last sample, with all that there is: nothing more will happen. `missing` says what the
  // recording lacks though nothing has gone wrong here; empty: nothing. The archive says so at its
  // end, or what has ended the recording before, which it gives, too.
  Result<void> finish(const std::string& missing = "");

  // As if it had never begun.
  void take_back() const { folder_.remove(); }

  const RecordingFolder& folder() const { return folder_; }

  // Spans and events for which the archive has no room.
  std::uint64_t events_left_out() const { return events_.left_out(); }

 private:
  Recording(const Settings& settings, RecordingFolder folder, ArchiveWriter writer, Source& source,
            WallClock clock, Stamp begin);
  Result<void> take(Recorder::Extent extent, agent::Time now);
  Result<void> take_events(Stamp at, agent::Time now);
  agent::Time next_sample() const;
  agent::Time boundary(std::int64_t interval) const;
  agent::Time between_distributions(agent::Time now) const;

  agent::Time interval_;
  agent::Time begin_;
  std::int64_t intervals_ = 0;  // that are in the archive
  agent::Time distributions_at_;
  RecordingFolder folder_;
  WallClock clock_;
  ArchiveWriter writer_;
  Recorder recorder_;
  EventRecorder events_;
  agent::Time events_at_{};  // when they were read last
  bool has_gap_ = false;
};

}  // namespace pcp::trace::command
