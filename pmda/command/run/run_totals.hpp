// SPDX-License-Identifier: LGPL-2.1-or-later
// Merges several archives of one run: counts are added, distributions combined. Data that cannot
// be combined becomes unknown.
//
// Thread: one.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "command/pcp/archive_changes.hpp"
#include "command/pcp/archive_source.hpp"
#include "command/run/archive_totals.hpp"
#include "command/run/label_choice.hpp"
#include "command/run/model.hpp"

namespace pcp::trace::command {

class RunTotals {
 public:
  // `are_runs`: each archive is a run of its own. Then times of archives are added up. `times_of`:
  // the only calls whose times are wanted.
  explicit RunTotals(const TagNames& names, bool are_runs = false,
                     std::optional<Ending> times_of = {})
      : names_(names), are_runs_(are_runs) {
    run_.times_of = times_of;
  }

  // Adds an archive that was read to its end, and has samples. An error if another one has calls of
  // the same agent and time: they would count twice.
  Result<void> add(const ArchiveSource& source, ArchiveTotals& archive,
                   const ArchiveChanges& changes);
  void note_room(const ArchiveChanges::Room& room) {
    run_.without_room += room.folded.value_or(0) + room.unsplit;
    run_.unsplit += room.unsplit;
    const bool may_process = room.folding.value_or(1) > 0;
    run_.may_have_folded |= may_process || room.folded.value_or(1) > 0;
    run_.may_have_overflowed |= may_process || room.overflowed.value_or(1) > 0;
  }

  // Gives the totals in model order. Nothing may be added afterwards.
  Totals finish();

  // The TagNames numbers of each tag that finish() gave: of its completed calls, its failed ones.
  const std::vector<std::vector<std::size_t>>& order() const { return order_; }

  // Times of the samples, one list per archive.
  const std::vector<std::vector<WallTime>>& samples() const { return samples_; }

  // The number of archives with this tag.
  std::size_t archives_with(std::size_t tag) const { return tags_[tag].archives; }

 private:
  struct Merged {
    Tag tag;
    std::size_t archives = 0;
    std::size_t archives_with_calls = 0;
    std::size_t distributions = 0;  // number of archives with a distribution
    double unbinned = 0;
    bool is_from_zero = false;  // it began in the run; from the last archive with calls
    bool is_of_agent = false;   // see ArchiveSource
    WallTime last_at{};
    bool has_percentiles = false;
    std::optional<AgentWindow> only_window;  // with all calls, if only one archive has calls
  };

  // The time in which an archive has an agent's calls.
  struct Part {
    WallTime begin;
    WallTime end;
    std::string archive;
  };

  std::uint16_t host_number(const std::string& host);
  void add_tag(Merged& merged, TagInArchive& its, const ArchiveSource& source, Ending ending,
               bool is_in_step);
  static void add_failed(Tag& tag, const TagInArchive& its, const ArchiveSource& source,
                         Ending ending, bool is_first);
  static void describe(Tag& tag, const MetricDescription& its);
  static void add_extremes(Tag& tag, const TagInArchive& its, double calls, bool is_in_step);
  static void prove_finite(Merged& merged);
  static void take_only_value(Merged& merged);
  static void add_distribution(Merged& merged, TagInArchive& its);
  void finish_times();
  void finish_tag(Merged& merged) const;
  Tag take_whole(std::size_t number, std::optional<std::size_t> of_failed);
  static PercentileSource source_of_percentiles(const Merged& merged);
  static void find_percentiles(Merged& merged);

  const TagNames& names_;
  const bool are_runs_;
  Run run_;
  std::vector<Merged> tags_;  // by number
  std::vector<std::vector<std::size_t>> order_;
  std::map<std::pair<std::string, double>, std::vector<Part>> parts_;  // by host and agent
  std::vector<std::vector<WallTime>> samples_;
  std::vector<std::vector<Stretch>> stretches_;  // per host
};

// Raises maxima: a captured transaction of the run is one of its tag's calls.
// If it is the longest, its begin is known.
void raise_to_spans(Totals& totals, const RecordedSpans& spans, const LabelChoice& choice);

}  // namespace pcp::trace::command
