// SPDX-License-Identifier: LGPL-2.1-or-later
// The agent's data: for each tag its totals, its last value, and a ring of buckets for the window,
// from which rates, averages, extrema and percentiles come. The engine knows neither sockets nor
// PCP, and time is an argument.
//
// The window. Time since the start (or the last reset) is cut into intervals of period/buckets,
// exact in nanoseconds: interval k begins at ceil(k * period / buckets). New values join the
// working bucket, unless their batch was late. When its interval ends, the working bucket becomes a
// completed one; a completed bucket counts in the window for `buckets` intervals. A tag's summary
// is computed once per interval, when rotate() or a snapshot reaches the tag, so no step takes long
// for any number of tags.
//
// Thread: any, one at a time; see shared.hpp for the mutex.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "collector/engine/histogram_pool.hpp"
#include "collector/engine/tag_directory.hpp"
#include "collector/engine/tag_history.hpp"
#include "collector/engine/types.hpp"
#include "collector/engine/window_clock.hpp"
#include "wire/batch.hpp"

namespace pcp::trace::agent {

class Engine {
 public:
  // If there are more known instances than tags may be, those that were absent longest are
  // forgotten. Requires: period and buckets are not 0; for each type `known` names no tag and no
  // number twice.
  Engine(const EngineOptions& options, const std::vector<KnownInstance>& known, Instant now);
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // Treats all numbers up to these as given, too. Call it before there are any values.
  void begin_numbers_after(const Numbers& reserved) { tags_.begin_numbers_after(reserved); }

  // Changes with each reset: then the results of tag() are no longer valid.
  std::uint32_t life() const { return static_cast<std::uint32_t>(tags_.life()); }

  // Finds or adds a tag. An instance appears only with the tag's first values. Requires:
  // is_tag(name). Without room, values go to the name without its labels, or to the type's
  // "(overflow)".
  TagIndex tag(TraceType type, std::string_view name);

  // The same for tags whose labels are not to be kept apart: values go to the bare name, and count
  // as folded.
  TagIndex folded_tag(TraceType type, std::string_view bare_name);

  // Notes a process that defines this tag.
  void note_origin(TagIndex tag, const std::shared_ptr<const Origin>& origin);

  // Notes a process's unit and description for this tag, as labels. The first description stays.
  // Equal descriptions share memory: `description` is set to the one kept. False if this is the
  // first that differs.
  bool describe(TagIndex tag, std::shared_ptr<const LabelText>& description);

  // Adds the value of one call that happened now.
  void apply_value(TagIndex tag, double value, Instant now);

  // Adds a delta. A batch that began at most one interval ago enters the working bucket. An older
  // batch is divided among the buckets of its time; the share that is older than
  // the window enters the totals only. Requires: `histogram` is empty, or a valid packed histogram
  // of the delta's finite values without the unbinned ones.
  void apply(TagIndex tag, const Delta& delta, std::string_view histogram,
             const wire::BatchAge& age, Instant now);

  // The same for transactions that failed.
  void apply_failures(TagIndex tag, const Delta& failed, std::string_view histogram,
                      const wire::BatchAge& age, Instant now);

  // The same for increments of a counter: their count and their sum.
  void apply_increments(TagIndex tag, const Delta& delta, const wire::BatchAge& age, Instant now);

  // Adds a process's open transactions to a tag; the instance appears as with a first value. Gives
  // the tag that shows them, which is another one without room: pass that tag to leave(). Requires:
  // the tag has no share of this holder.
  TagIndex enter(TagIndex tag, const OpenShare& share, Instant now);

  // Removes the share again. Requires: the share was entered there, in this life.
  void leave(TagIndex entered, const OpenShare& share);

  // Counts transactions whose process disappeared while they were open.
  void vanish(TagIndex tag, std::uint64_t open, Instant now);

  // Forgets all values and instances, and all shares entered. Sets their memory aside, and restarts
  // the interval. Numbers stay with their tags as long as there is room; else the tags absent
  // longest lose their numbers, which are never given again.
  void reset(Instant now);

  // The start, or the last reset.
  Instant begin_of_life() const { return life_began_; }

  // Gives the running interval, and all later ones, another length. If the interval of `now`
  // is over already, returns false and changes nothing: its values can still be read. Requires: one
  // bucket.
  bool change_period(Duration period, Instant now);

  // Histories lie in blocks that are never empty and never grow. So a history keeps its address,
  // close to the next ones that a fetch reads, and apart from data that outlives a reset.
  using Block = std::vector<TagHistory>;
  using Discarded = std::unique_ptr<Block>;

  // Hands out some memory that resets have set aside, for the caller to free without the mutex: a
  // free() that returns pages to the kernel can take a millisecond. Null if there is none.
  Discarded take_discarded();

  // Summarises up to `max_tags` tags whose interval has ended. True if there is more to do.
  bool rotate(Instant now, std::size_t max_tags);

  // The time of the next rotation or discarding: `now` or earlier if there is work already.
  Instant next_rotation(Instant now) const;

  // Copies the values of up to `max` instances of a type, starting at index `from`, in the order of
  // their first values since the start or the last reset. Gives the number copied: 0 only at the
  // end, and fewer than `max` also if many tags had to be summarised. Between two calls instances
  // may be appended, or reset: see life().
  std::size_t snapshot(TraceType type, std::size_t from, std::size_t max, Instant now,
                       std::vector<TagValues>& out);

  // Starts cumulative histograms, with the running interval; before this call they cost nothing.
  // Further calls do nothing. A reset clears them, but continues to keep them.
  void begin_cumulative(Instant now);

  // Copies the cumulative histograms of up to `max` instances, if `wanted`. Gives the number looked
  // at: 0 only at the end, or if none are kept. They hold the values of intervals completed since
  // begin_cumulative(), and late values. Each other finite value counts as unbinned.
  std::size_t cumulative(TraceType type, Outcome outcome, std::size_t from, std::size_t max,
                         Instant now, const std::function<bool(std::int32_t)>& wanted,
                         std::vector<CumulativeSample>& out);

  // The same for instance names.
  std::size_t instances(TraceType type, std::size_t from, std::size_t max,
                        std::vector<InstanceName>& out) const;

  // Copies the numbers for the agent's next life, from up to `max` tags, starting at index `from`.
  // Gives the number of tags looked at; 0 means the end. A tag that was forgotten and
  // returned between two calls may appear twice; the greater number counts.
  std::size_t known_instances(std::size_t from, std::size_t max,
                              std::vector<KnownInstance>& out) const {
    return tags_.known_instances(from, max, out);
  }

  // The highest numbers that were given or reserved.
  const Numbers& highest_numbers() const { return tags_.highest_numbers(); }

  // The number of a type's instances.
  std::size_t instance_count(TraceType type) const { return arrivals_[index_of(type)].size(); }

  // Changes when instances are reset or added, or when an instance's labels change. Thread: any, at
  // any time.
  std::uint64_t changes() const { return changes_.load(std::memory_order_relaxed); }

  EngineCounters counters() const;
  const EngineOptions& options() const { return options_; }

 private:
  struct Latest {
    std::int64_t life = 0;  // the history's life; in any other life the history is gone
    TagHistory* history = nullptr;
  };
  static constexpr std::size_t kBlock = 64;  // histories

  void advance_to(Instant now);
  void advance_for_reader(Instant now);
  void begin_interval(std::int64_t interval);
  TagHistory& history_of(TagIndex tag, std::uint64_t calls, Instant now);
  [[gnu::noinline]] TagHistory& begin_history(TagIndex tag, Instant now);
  TagHistory& history_of_bare(TagIndex bare, Instant now);
  TagHistory& overflow_history(TraceType type, Instant now);
  bool admit(TagIndex tag, std::uint64_t most);
  TagHistory& add_history(TagIndex tag, Instant now);
  void add(TagHistory& history, TagHistory& values, const Delta& delta, std::string_view histogram,
           const wire::BatchAge& age, Instant now);
  static std::size_t work_of(const TagHistory& history);
  std::size_t bring_up(TagHistory& history);
  template <typename Visit>
  std::size_t visit(TraceType type, std::size_t from, std::size_t max, Instant now,
                    Visit visit_one);
  void activate(TagHistory& history);
  void deactivate(TagHistory& history);
  void coarsen_next();
  void coarsen_cumulative();
  void brake_resets();

  TagHistory* history_in_this_life(TagIndex tag) const {
    return latest_[tag].life == tags_.life() ? latest_[tag].history : nullptr;
  }
  void make_latest() { latest_.resize(tags_.size()); }
  void note_change() { changes_.fetch_add(1, std::memory_order_relaxed); }

  EngineOptions options_;  // only the period changes
  WindowClock clock_;
  Instant life_began_;
  std::int64_t current_ = 0;  // interval
  Instant interval_end_;      // of the current one
  HistogramPool pool_;        // the window's
  CumulativePool cumulative_;
  TagDirectory tags_;
  EngineCounters counters_;
  // Relaxed: the data are read under the mutex under which their changes are counted.
  std::atomic<std::uint64_t> changes_{0};

  // A life begins at the start and at each reset. Histories belong to one life. A reset only sets
  // them aside, because freeing 100,000 of them at once takes too long.
  std::vector<Latest> latest_;  // by TagIndex
  std::vector<std::unique_ptr<Block>> histories_;
  std::array<std::vector<TagHistory*>, kTraceTypes.size()> arrivals_;  // of histories, by type
  std::vector<std::unique_ptr<Block>> discarded_;                      // of earlier lives

  std::vector<TagHistory*> active_;  // tags whose window is not empty
  std::size_t to_rotate_ = 0;        // active tags from this index on are at the current interval
};

}  // namespace pcp::trace::agent
