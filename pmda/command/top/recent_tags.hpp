// SPDX-License-Identifier: LGPL-2.1-or-later
// The values of tags in a short time: counts, sums and rates between two samples, extremes and
// percentiles of the agent's window; and more about one tag.
//
// Thread: one at a time.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "command/pcp/archive_changes.hpp"
#include "command/run/model.hpp"
#include "command/run/run_pieces.hpp"
#include "command/spans/open_transactions.hpp"

namespace pcp::trace::command {

struct Recent {
  std::vector<std::string> hosts;
  std::vector<Tag> tags;
  WallTime at{};
  double elapsed_s = 0;            // counts, sums and rates cover this time
  std::optional<double> window_s;  // extremes and percentiles cover this time
};

// More about one tag.
struct TagDetail {
  std::string host{};
  std::string labels{};  // in JSON
  std::vector<OpenTransaction> open{};
  std::string histogram{};  // of all its values since some time, as text
};

// An answer of a host or an archive.
struct TagReading {
  std::optional<Recent> recent{};     // nothing: no values yet, as after the agent's start
  std::optional<TagKey> about{};      // the tag that it was asked for
  std::optional<TagDetail> detail{};  // of this tag
  std::optional<std::pair<std::string, double>> agent{};  // its host and start, if it says so
  std::string trouble{};                                  // empty: it gives values
  bool is_over = false;                                   // at an archive's end
};

class RecentTags final : private ChangeTaker {
 public:
  // `has_distributions`: tags get those of the window, from the source's texts.
  RecentTags(std::unique_ptr<SampleSource> source, bool is_archive, bool has_distributions)
      : source_(std::move(source)),
        is_archive_(is_archive),
        has_distributions_(has_distributions) {}

  // Reads a sample. Gives the values since the one before.
  TagReading read(const std::optional<TagKey>& about = {});

 private:
  struct Entry {
    // Growth since the previous sample; levels; values of the sample's window.
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
  std::optional<Recent> recent();
  Tag tag_at(std::size_t number, double elapsed_s);
  void find_distribution(Tag& tag, Entry& entry) const;
  TagDetail detail_of(const TagKey& tag);

  const std::unique_ptr<SampleSource> source_;
  const bool is_archive_;
  const bool has_distributions_;
  TagNames names_;
  ArchiveChanges changes_{*source_, names_, {}};
  std::vector<Entry> entries_;  // by number
  SampleTime time_;
  std::uint64_t samples_ = 0;
  bool has_grown_ = false;     // in the last one
  std::size_t described_ = 0;  // tags
  std::map<TraceType, std::map<std::string, MetricDescription>> descriptions_;
};

// Adds up the tags of several hosts.
Recent sum_of_hosts(std::vector<Recent> hosts);

}  // namespace pcp::trace::command
