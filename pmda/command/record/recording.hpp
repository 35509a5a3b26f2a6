// SPDX-License-Identifier: LGPL-2.1-or-later
// One recording: its folder and archive, and an agent's samples, in step with the agent's
// intervals. Without -t the intervals of an own agent grow with the run.
//
// Thread: the main one.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "command/pcp/recording_folder.hpp"
#include "command/record/event_writer.hpp"
#include "command/record/record_options.hpp"
#include "command/record/registration.hpp"
#include "command/record/sample_writer.hpp"

namespace pcp::trace::command {

class Recording {
 public:
  // Makes the folder, named after `what` if the options do not name it, and writes a first sample
  // from before the first interval, which begins at `begin`. `host` is the recorded one. `also`:
  // has metrics to record at the same times; null: none.
  static Result<std::unique_ptr<Recording>> begin(const RecordOptions& options,
                                                  const std::string& what, const std::string& host,
                                                  Instant begin, RecordedAgent& agent,
                                                  RecordedAgent* also);

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
  Recording(const RecordOptions& options, Instant begin, RecordingFolder folder,
            ArchiveWriter writer, RecordedAgent& agent, RecordedAgent* also, Stamp at);
  Stamp stamp();
  Result<void> take_interval(Instant now);
  void lengthen_interval(Instant now);
  Result<void> take(SampleWriter::Extent extent, Stamp at, Instant now, std::string_view says = {},
                    bool is_last = false);
  Result<void> take_events(Stamp at, Instant now);
  void take_also(SampleWriter::Extent extent, Stamp at, bool is_last);
  Instant next_sample() const;
  std::int64_t intervals_until(Instant now) const { return (now - counted_from_) / interval_; }
  Instant boundary(std::int64_t interval) const { return counted_from_ + interval * interval_; }
  Duration between_distributions(Instant now) const;

  RecordedAgent& agent_;
  const bool grows_;
  Duration interval_;
  const Instant begin_;
  Instant counted_from_;        // since the interval has its length
  std::int64_t intervals_ = 0;  // in the archive, since then
  Instant distributions_at_;
  RecordingFolder folder_;
  Stamp last_;  // that stamp() has returned
  ArchiveWriter writer_;
  SampleWriter samples_;
  std::optional<SampleWriter> also_;  // other metrics, in records of their own
  int also_samples_ = 0;              // at most 2: then there are more
  Instant also_at_{};                 // the last one
  EventWriter events_;
  Instant events_at_{};  // last reading of events
  bool has_gap_ = false;
  std::optional<Registration> registration_;
};

}  // namespace pcp::trace::command
