// SPDX-License-Identifier: LGPL-2.1-or-later
// The values of tags in a short time: counts, sums and rates between two samples, extremes and
// percentiles of the agent's window.
//
// Thread: one at a time.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "command/pcp/archive_changes.hpp"
#include "command/run/model.hpp"

namespace pcp::trace::command {

struct Recent {
  std::vector<std::string> hosts;
  std::vector<Tag> tags;
  WallTime at{};
  double elapsed_s = 0;            // counts, sums and rates cover this time
  std::optional<double> window_s;  // extremes and percentiles cover this time
};

class RecentTags final : private ChangeTaker {
 public:
  // `has_distributions`: tags get those of the window, from the source's texts.
  RecentTags(SampleSource& source, bool has_distributions)
      : source_(source), has_distributions_(has_distributions) {}

  // Reads a sample. Gives the values since the last ones; nothing if there are none yet, as after
  // the agent's start.
  Result<std::optional<Recent>> next();

  // True at an archive's end.
  bool is_over() const { return is_over_; }

  // The changes that they are computed from.
  const ArchiveChanges& changes() const { return changes_; }

  // The newest text of a tag's distribution; empty: none is known.
  std::string text_of(const TagNames::Key& tag);

 private:
  struct Entry {
    // Growth since the values that were given last; levels; values of the last sample's window.
    std::array<std::optional<double>, index_of(Quantity::Histogram)> values{};
    std::uint64_t seen = 0;                                 // the last sample with it
    std::vector<std::pair<WallTime, std::string>> texts{};  // those that differ
    std::optional<Histogram> distribution{};                // from the first text to the last one

    const std::optional<double>& of(Quantity quantity) const { return values[index_of(quantity)]; }
  };

  void take_sample(const SampleTime& time) override;
  void take(const Change& change) override;
  void take_histogram(std::size_t tag, std::string_view text) override;
  Entry& entry(std::size_t tag);
  WallTime window_begin() const;
  Recent take_recent();
  void fill(Tag& tag, double elapsed_s, Entry& completed, const Entry& failed);
  void fill_distribution(Tag& tag, Entry& entry) const;

  SampleSource& source_;
  const bool has_distributions_;
  TagNames names_;
  ArchiveChanges changes_{source_, names_, {}};
  std::vector<Entry> entries_;  // by number
  SampleTime time_;
  std::uint64_t samples_ = 0;
  std::uint64_t taken_ = 0;  // the samples at the last call
  Duration elapsed_{};       // since then
  bool has_grown_ = false;   // since then
  bool is_over_ = false;
  std::size_t described_ = 0;  // tags
  std::map<TraceType, std::map<std::string, MetricDescription>> descriptions_;
};

// Adds up the tags of several hosts.
Recent sum_of_hosts(std::vector<Recent> hosts);

}  // namespace pcp::trace::command
