// SPDX-License-Identifier: LGPL-2.1-or-later
// What the agent knows: for each tag its totals, its last value, and a ring of buckets that make up
// the window from which rates, averages, extrema and percentiles come. Neither sockets nor PCP
// reach in here, and time is an argument.
//
// The window. Time since the start (or the last reset) is cut into intervals of period/buckets,
// exact in nanoseconds: interval k begins at ceil(k * period / buckets). What arrives joins the
// working bucket, unless it was long on its way; when its interval ends it is one of the completed
// ones, and for `buckets` intervals it counts in the window. A tag's summary is computed once per
// interval, when rotate() or a snapshot reaches the tag, so no step takes long however many tags
// there are.
//
// Thread: any, one at a time; see shared.hpp for the mutex.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "collector/engine/types.hpp"
#include "wire/batch.hpp"

namespace pcp::trace::agent {

class Engine {
 public:
  // Of more known instances than there may be tags those are forgotten that were absent for
  // longest. Requires: period and buckets are not 0; `known` names no tag and no number of a type
  // twice.
  Engine(const EngineOptions& options, const std::vector<KnownInstance>& known, Time now);
  ~Engine();

  // Gives no number up to these, either. To be called before there are any values.
  void begin_numbers_after(const Numbers& reserved);

  // Counts resets: what tag() gave in another life is no longer valid.
  std::uint32_t life() const;

  // Finds a tag, or takes it in. Shows nothing yet: an instance appears with its first
  // values. Requires: is_tag(name). If there is no room, what is applied goes to the name before
  // its labels, or to the type's "(overflow)".
  TagIndex tag(TraceType type, std::string_view name);

  // The same for tags with labels that nobody keeps apart: what is applied goes to their bare name,
  // and counts as folded.
  TagIndex folded_tag(TraceType type, std::string_view bare_name);

  // Notes a process that defines this tag.
  void note_origin(TagIndex tag, const std::shared_ptr<const Origin>& origin);

  // Notes what a process says of this tag: its unit and its description, as labels. Those of the
  // first one stay, and equal ones are kept once: `description` is the one that is kept. False if
  // it is the first that differs.
  bool describe(TagIndex tag, std::shared_ptr<const LabelText>& description);

  // Adds one call's value, which happened now.
  void apply_value(TagIndex tag, double value, Time now);

  // Adds a delta. A batch that began no longer ago than one interval enters the working bucket.
  // An older one is divided among the buckets of its time; what is older than the window, by its
  // share of the batch's time, enters the totals only.
  // Requires: `histogram` is empty, or a valid packed histogram of the delta's finite values but
  // those that are unbinned.
  void apply(TagIndex tag, const Delta& delta, std::string_view histogram,
             const wire::BatchAge& age, Time now);

  // The same for increments of a counter: their number, and what they add up to.
  void apply_increments(TagIndex tag, const Delta& delta, const wire::BatchAge& age, Time now);

  // Adds what a process has in flight to a tag, whose instance appears as with a first value. Gives
  // the tag that shows it, which is another one if there is no room: leave() wants it back.
  // Requires: nothing of this holder is in the tag.
  TagIndex enter(TagIndex tag, const OpenShare& share, Time now);

  // Takes it out again. Requires: this has entered there, in this life.
  void leave(TagIndex entered, const OpenShare& share);

  // Counts transactions that were in flight when their process was heard of last.
  void vanish(TagIndex tag, std::uint64_t open, Time now);

  // Forgets all values and instances, also what has entered, sets their memory aside, and starts
  // the interval afresh. Numbers stay with their tags as long as there is room; else those that are
  // absent for longest give theirs up, and no other tag ever gets them.
  void reset(Time now);

  // When everything was 0: the start, or the last reset.
  Time begin_of_life() const;

  struct FreeHistories {
    void operator()(void* block) const;
  };
  using Discarded = std::unique_ptr<void, FreeHistories>;

  // Hands out some of the memory that resets have set aside, for the caller to free without the
  // mutex: now and then a free() takes a millisecond, since it gives pages back to the kernel. Null
  // if there is none left.
  Discarded take_discarded();

  // Summarises at most `max_tags` tags whose interval has ended. True if there is more to do.
  bool rotate(Time now, std::size_t max_tags);

  // When there is next something to rotate, or to discard: `now` or earlier if there is already.
  Time next_rotation(Time now) const;

  // Copies the values of at most `max` instances of a type, from the `from`th on, in the order in
  // which they first had values since the start or the last reset. Gives how many it copied: none
  // only at the end, and fewer than `max` also where many had to be summarised first. Between two
  // calls instances may have been added at the end, or all been reset: generation() tells.
  std::size_t snapshot(TraceType type, std::size_t from, std::size_t max, Time now,
                       std::vector<TagValues>& out);

  // The same for the distributions of the interval that was over last, of those instances that have
  // one. Gives how many it looked at.
  std::size_t histograms(TraceType type, std::size_t from, std::size_t max, Time now,
                         std::vector<IntervalHistogram>& out);

  // From now on cumulative histograms are kept, with the interval that is running: before this they
  // cost nothing. Once is enough; a reset forgets what is in them, but goes on keeping them.
  void begin_cumulative(Time now);

  // Copies those of at most `max` instances, if they are `wanted`. Gives how many it looked at:
  // none only at the end, or if they are not kept. What they hold is what the completed intervals
  // have got since then, late values included; each finite value that is in none, or had no room,
  // is unbinned.
  std::size_t cumulative(TraceType type, std::size_t from, std::size_t max, Time now,
                         const std::function<bool(std::int32_t)>& wanted,
                         std::vector<CumulativeSample>& out);

  // The same for their names; here, fewer than `max` are the end.
  std::size_t instances(TraceType type, std::size_t from, std::size_t max,
                        std::vector<InstanceName>& out) const;

  // Copies the numbers to be known to the agent's next life, of those that have one of at most
  // `max` tags from the `from`th on. Gives how many it looked at; fewer than `max` are the end. A
  // tag that was forgotten and came back between two calls may be there twice; its greater number
  // counts.
  std::size_t known_instances(std::size_t from, std::size_t max,
                              std::vector<KnownInstance>& out) const;

  // The highest that was given, or must not be.
  const Numbers& highest_numbers() const;

  // Changes when the type's instances were reset (resets) or have become more (count).
  struct Generation {
    std::uint64_t resets = 0;
    std::uint64_t count = 0;
    std::uint64_t origins = 0;  // changes of any instance's origin
    bool operator==(const Generation&) const = default;
  };
  Generation generation(TraceType type) const;

  // Differs from before if any type's generation does. Thread: any, at any time.
  std::uint64_t changes() const;

  const EngineCounters& counters() const;
  const EngineOptions& options() const;

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace pcp::trace::agent
