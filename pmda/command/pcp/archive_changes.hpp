// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads an archive or a host, and reports each tag's changes from one sample to the next.
//
// Thread: one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "command/pcp/agent_life.hpp"
#include "command/pcp/archive_source.hpp"
#include "wire/trace_type.hpp"

namespace pcp::trace::command {

// Numbers the tags of all archives of a report. The same type and name is the same tag, whatever
// its number in an archive or on a host. Its failed calls have a number of their own.
class TagNames {
 public:
  using Key = std::pair<TraceType, std::string>;

  std::size_t find_or_add(TraceType type, const std::string& name) {
    const auto [found, is_new] = numbers_.try_emplace(Key(type, name), tags_.size());
    if (is_new) tags_.push_back({&found->first});
    return found->second;
  }

  // The number of the failed calls of a tag.
  std::size_t failed_of(std::size_t tag) {
    if (!tags_[tag].other) {
      tags_[tag].other = tags_.size();
      tags_.push_back({tags_[tag].key, Ending::Failed, tag});
    }
    return *tags_[tag].other;
  }

  // The number of the calls of this tag that ended otherwise, if they have one.
  std::optional<std::size_t> other_ending(std::size_t tag) const { return tags_[tag].other; }

  std::size_t size() const { return tags_.size(); }
  TraceType type(std::size_t tag) const { return tags_[tag].key->first; }
  const std::string& name(std::size_t tag) const { return tags_[tag].key->second; }
  Ending ending(std::size_t tag) const { return tags_[tag].ending; }

 private:
  struct Numbered {
    const Key* key;
    Ending ending = Ending::Completed;
    std::optional<std::size_t> other{};
  };

  std::map<Key, std::size_t> numbers_;
  std::vector<Numbered> tags_;
};

// The time range of a report; both ends are included.
struct Window {
  WallTime begin = WallTime::min();
  WallTime end = WallTime::max();
};

struct Change {
  std::size_t tag = 0;
  Quantity quantity{};
  double value = 0;           // growth if the quantity only grows, NaN if unknown; else its value
  WallTime from{};            // the previous sample, or this one if there is none
  bool is_from_zero = false;  // only grows, and started from 0 in this time
};

// The last distribution before the wanted time, or the first one after it.
struct NearbyText {
  std::string text;
  double calls = 0;  // with finite values, between the distribution and the wanted time
};

struct SampleTime {
  WallTime at{};
  std::optional<WallTime> from;        // the previous sample; none: the first, or after a gap
  std::optional<double> period_s;      // the time that the agent's windows cover
  std::optional<double> interval_s{};  // after which they move on
};

// Receives the changes. take_sample() comes first, then growing quantities, then the others.
class ChangeTaker {
 public:
  virtual ~ChangeTaker() = default;
  virtual void take_sample(const SampleTime& time) = 0;
  virtual void take(const Change& change) = 0;
  virtual void take_histogram(std::size_t tag, std::string_view text) = 0;
  // After the first sample, and after the last one.
  virtual void take_before(std::size_t, NearbyText&&) {}
  virtual void take_after(std::size_t, const NearbyText&) {}
};

class ArchiveChanges {
 public:
  ArchiveChanges(SampleSource& source, TagNames& names, const Window& window)
      : source_(source), names_(names), window_(window) {}

  Result<void> read_all(ChangeTaker& taker);

  // Reads one sample. False at the end.
  Result<bool> read_next(ChangeTaker& taker);

  // Why calls may be missing, known after the last sample; empty: none are, or unknown.
  std::string why_incomplete() const;

  // When the agents of the archive started, by themselves.
  const std::set<double>& starts() const { return starts_; }

  // When the agent of the last sample started; nothing: it does not say so.
  const std::optional<double>& started() const { return agent_.started_s; }

  // The greatest values, since they concern all times. Their growth would not do: an agent reads
  // them after the tags' values, so calls in between are in no growth.
  struct Room {
    std::optional<double> folded{};  // calls that the agent had no room for; nothing: not recorded
    std::optional<double> overflowed{};  // the same, for calls under kOverflowName
    std::optional<double> folding{};     // processes that had no room for label sets or tags
    double unsplit = 0;                  // tags that had no room for the labels of --split
  };
  const Room& room() const { return room_; }

 private:
  // For each type and, last, for failed transactions.
  static constexpr std::size_t kSeries = kTraceTypes.size() + 1;
  static constexpr std::size_t kSlots = kSeries * (index_of(Quantity::Histogram) + 1);
  static constexpr std::size_t kKept = index_of(Quantity::Rate);  // what grows, and levels

  // A tag's last values. Agents count from 0.
  struct Known {
    std::array<double, kKept> last{};  // levels: only from before the window
    std::array<bool, kKept> is_known{};
    std::uint64_t began_anew = 0;  // the sample in which the values restarted; 0: none
  };

  void take_mark();
  void begin_with_agent(ChangeTaker& taker);
  void take_sample(const ArchiveSample& sample, ChangeTaker& taker);
  bool is_before_window() const;
  bool has_all_that_grows();
  void take_older_tags(ChangeTaker& taker);
  bool take_beyond_end(const ArchiveSample& sample, ChangeTaker& taker);
  void count_nearby(std::size_t tag, Quantity quantity, double grown);
  void take_facts_of_agent(const ArchiveSample& sample);
  void take_values(const QuantityValues& values, ChangeTaker& taker);
  void take_growing(const QuantityValues& values, const pmValue& value,
                    std::optional<WallTime> from, ChangeTaker& taker);
  double growth(const QuantityValues& values, Known& known, double now) const;
  void forget_names_if_begun_anew(const QuantityValues& calls);
  std::size_t tag_of(const QuantityValues& values, int instance);
  std::size_t named(const QuantityValues& values, int instance);
  void read_names(const QuantityValues& values);
  Known& known(std::size_t tag);
  std::optional<WallTime>& sampled_at(const RecordedQuantity& what);
  std::optional<WallTime> since(const QuantityValues& values);

  SampleSource& source_;
  TagNames& names_;
  Window window_;

  std::uint64_t samples_ = 0;
  WallTime at_{};
  std::optional<WallTime> last_;         // the previous sample since the last mark
  std::optional<WallTime> before_mark_;  // the last sample before a mark, until tags follow
  // The last reading of each metric. If the archive is sparse: the last sample with all values.
  std::array<std::optional<WallTime>, kSlots> sampled_{};
  bool has_begun_anew_ = false;  // since `before_mark_`
  std::size_t stretches_ = 0;    // of samples without a gap
  // True if the recording began before the archive. Then it may lack calls of tags before their
  // first sample in it.
  bool lacks_begin_ = false;
  // A report's time begins and ends with a reading of calls. With other metrics, which a pmlogger
  // may read more often, it would seem to have no calls at its ends.
  bool has_calls_ = false;  // the sample
  bool is_torn_ = false;    // a pmlogger read some calls, failures or sums at other times
  std::optional<double> period_s_;
  std::optional<double> interval_s_;
  Room room_;
  AgentLife agent_;
  std::set<double> starts_;
  std::optional<WallTime> counts_since_;  // when the agent was at 0, by its last report
  std::vector<Known> known_;              // by tag
  std::unordered_map<std::size_t, NearbyText> nearby_;                         // by tag
  std::array<std::unordered_map<int, std::size_t>, kTraceTypes.size()> tags_;  // by instance
  std::array<std::uint64_t, kTraceTypes.size()> names_read_at_{};              // sample
};

}  // namespace pcp::trace::command
