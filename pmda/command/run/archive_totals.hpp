// SPDX-License-Identifier: LGPL-2.1-or-later
// The totals of each tag in one archive, over the wanted time.
//
// Thread: one.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "command/pcp/archive_changes.hpp"
#include "command/run/histogram_slices.hpp"

namespace pcp::trace::command {

// A time without gaps: each sample tells what happened since the previous one.
struct Stretch {
  WallTime begin{};
  WallTime end{};
};

// One window of the agent.
struct AgentWindow {
  WallTime at{};
  double calls = 0;
  std::array<std::optional<double>, index_of(Quantity::Histogram)> values;  // by quantity

  const std::optional<double>& of(Quantity quantity) const { return values[index_of(quantity)]; }
};

// Number of an archive's stretch between two marks.
using StretchNumber = std::size_t;

struct TagInArchive {
  bool is_there = false;
  std::array<double, kGrowing> grown{};
  double unsummed = 0;      // calls without a sum: failures from older libraries
  double calls_to_sum = 0;  // of the latest sample
  std::optional<double> last;
  WallTime last_at{};

  // Only from windows within the stretch.
  std::optional<AgentWindow> fullest;
  double calls_in_windows = 0;
  std::optional<double> least;
  std::optional<double> greatest;
  std::optional<SlowestMoment> slowest;
  bool has_percentiles = false;

  HistogramSlices distribution;  // one slice
  NearbyText before;             // instead of the stretch's first distribution, if it is nearer
  double calls_since_text = 0;   // with finite values; since the stretch's begin if it has none
  double outside = 0;            // values in the distribution from before or after the wanted time
  bool has_text = false;
  StretchNumber from_zero_in = 0;  // 0: it did not begin in any stretch

  double grown_by(Quantity quantity) const { return grown[index_of(quantity)]; }
};

class ArchiveTotals : public ChangeTaker {
 public:
  // `is_of_agent`: see ArchiveSource.
  explicit ArchiveTotals(bool is_of_agent) : is_of_agent_(is_of_agent) {}

  void take_sample(const SampleTime& time) override;
  void take(const Change& change) override;
  void take_histogram(std::size_t tag, std::string_view text) override;
  void take_before(std::size_t tag, NearbyText&& nearby) override;
  void take_after(std::size_t tag, const NearbyText& nearby) override;

  // By tag number; entries may be unused (is_there).
  std::vector<TagInArchive>& tags() { return tags_; }

  const std::vector<Stretch>& stretches() const { return stretches_; }
  const std::vector<WallTime>& samples() const { return samples_; }
  std::optional<double> period_s() const { return time_.period_s; }  // the last known one

 private:
  static void note_sum(TagInArchive& tag, const Change& change);
  void take_of_window(TagInArchive& tag, const Change& change);
  void note_slowness(TagInArchive& tag, double value, bool is_p99) const;
  bool is_of_this_time_only(const TagInArchive& tag) const;
  void take_text(TagInArchive& tag, std::string_view text) const;
  TagInArchive& in_archive(std::size_t tag);
  TagInArchive& entry(std::size_t tag);

  const bool is_of_agent_;
  SampleTime time_;
  std::vector<TagInArchive> tags_;
  std::vector<Stretch> stretches_;
  std::vector<WallTime> samples_;
};

// The median time between two samples.
std::optional<std::chrono::nanoseconds> usual_interval(const std::vector<WallTime>& samples);

}  // namespace pcp::trace::command
