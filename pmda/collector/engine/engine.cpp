// SPDX-License-Identifier: LGPL-2.1-or-later
#include "collector/engine/engine.hpp"

#include <algorithm>
#include <atomic>
#include <cassert>

#include "collector/engine/batch_shares.hpp"
#include "collector/engine/histogram_pool.hpp"
#include "collector/engine/slice.hpp"
#include "collector/engine/tag_history.hpp"
#include "collector/engine/tag_registry.hpp"
#include "collector/engine/window_clock.hpp"

namespace pcp::trace::agent {

namespace {

// The most tags whose buckets are processed per hold of the mutex.
constexpr std::size_t kMostWork = 32;

// Tags per step of coarsening cumulative histograms. More than one, because many tags have none.
constexpr std::size_t kCoarsenedAtOnce = 4;

}  // namespace

// A life begins at the start and at each reset. Histories belong to one life. A reset only sets
// them aside, because freeing 100,000 of them at once takes too long.
struct Engine::Implementation {
  Implementation(const EngineOptions& engine_options, const std::vector<KnownInstance>& known,
                 Instant now)
      : options(engine_options),
        clock(options.period, options.buckets, now),
        interval_end(clock.begin_of(1)),
        pool(options.max_histogram_bytes),
        cumulative(options.max_cumulative_bytes),
        tags(options, known) {
    latest.reserve(tags.max_size());
    latest.resize(tags.size());
  }

  // Moves the engine to the interval of `now`. The tags follow one by one.
  void advance_to(Instant now) {
    if (now < interval_end) [[likely]]
      return;
    const std::int64_t interval = clock.interval_at(now);
    counters.rotations += static_cast<std::uint64_t>(interval - current);
    current = interval;
    interval_end = clock.begin_of(current + 1);
    to_rotate = active.size();
    pool.refine();
    cumulative.memory().refine();
  }

  // Gives the history that takes this tag's values, at the current interval: the tag's own or,
  // without room, the history of its bare name or of "(overflow)".
  TagHistory& history_of(TagIndex tag, std::uint64_t calls, Instant now) {
    const TagIndex named = TagRegistry::without_mark(tag);
    TagHistory* history = history_in_this_life(named);
    if (named != tag) [[unlikely]] {
      history = &history_of_bare(named, now);
    } else if (history == nullptr) [[unlikely]] {
      history = &begin_history(tag, now);
    }
    if (TagRegistry::is_overflow(history->tag())) [[unlikely]] {
      add_calls(counters.overflowed, calls);
    } else if (history->tag() != tag) [[unlikely]] {
      add_calls(counters.folded, calls);
    }
    bring_up(*history);
    return *history;
  }

  TagHistory* history_in_this_life(TagIndex tag) const {
    return latest[tag].life == tags.life() ? latest[tag].history : nullptr;
  }

  void make_latest() { latest.resize(tags.size()); }

  void note_origin_change(TagIndex tag) {
    ++origin_changes[index_of(tags.type(tag))];
    note_change();
  }

  void note_change() { changes.fetch_add(1, std::memory_order_relaxed); }

  [[gnu::noinline]] TagHistory& begin_history(TagIndex tag, Instant now) {
    if (take_in(tag, options.max_tags)) return add_history(tag, now);
    const TagIndex bare = tags.find_or_add_bare(tag);
    make_latest();
    TagHistory& history =
        bare == tag ? overflow_history(tags.type(tag), now) : history_of_bare(bare, now);
    latest[tag] = {tags.life(), &history};
    if (tags.note_origin_of(history.tag(), tag)) note_origin_change(history.tag());
    return history;
  }

  // For the calls of the bare name's tags with labels. Bare names have a little more room.
  TagHistory& history_of_bare(TagIndex bare, Instant now) {
    TagHistory* const history = history_in_this_life(bare);
    if (history != nullptr && history->tag() == bare) return *history;
    if (take_in(bare, options.most_tags())) return add_history(bare, now);
    return overflow_history(tags.type(bare), now);
  }

  TagHistory& overflow_history(TraceType type, Instant now) {
    const TagIndex tag = TagRegistry::overflow_tag(type);
    TagHistory* const history = history_in_this_life(tag);
    return history != nullptr ? *history : add_history(tag, now);
  }

  // False if there are `most` tags already.
  bool take_in(TagIndex tag, std::uint64_t most) {
    if (TagRegistry::is_overflow(tag)) return true;
    if (counters.tags >= most || !tags.note_values(tag)) return false;
    ++counters.tags;
    return true;
  }

  TagHistory& add_history(TagIndex tag, Instant now) {
    brake_resets();
    if (histories.empty() || histories.back()->size() == kBlock) {
      auto block = std::make_unique<Block>();
      block->reserve(kBlock);
      histories.push_back(std::move(block));
    }
    TagHistory& history = histories.back()->emplace_back(tag, tags.type(tag));
    if (cumulative.begun()) history.begin_cumulative(now, cumulative);
    latest[tag] = {tags.life(), &history};
    arrivals[index_of(tags.type(tag))].push_back(&history);
    note_change();
    return history;
  }

  void add(TagHistory& history, const Delta& delta, std::string_view histogram,
           const wire::BatchAge& age, Instant now) {
    const auto recent = static_cast<std::uint64_t>(clock.interval_length().count());
    if (age.first_ns <= recent || delta.count == 0) {
      history.add(delta, histogram, pool);
    } else {
      const BatchShares shares(age, clock, current, now);
      add_calls(counters.late,
                history.add_late(delta, histogram, shares, options.buckets, pool, cumulative));
      coarsen_cumulative();
    }
    activate(history);
    coarsen_next();
  }

  // The work of processing a tag's buckets: 1 for a usual tag, more for a very fine window.
  static std::size_t work_of(const TagHistory& history) {
    constexpr std::size_t kUsualBuckets = 16;
    return 1 + history.window_size() / kUsualBuckets;
  }

  // Gives the work it took.
  std::size_t bring_up(TagHistory& history) {
    if (history.interval() == current) [[likely]]
      return 0;
    const std::size_t work = work_of(history);
    if (!history.advance(current, options.buckets, pool, cumulative)) deactivate(history);
    coarsen_cumulative();
    return work;
  }

  // Visits tags of a type until the work reported by the visits reaches the limit. Gives the number
  // of tags visited.
  template <typename Visit>
  std::size_t visit(TraceType type, std::size_t from, std::size_t max, Instant now,
                    Visit visit_one) {
    advance_to(now);
    std::size_t visited = 0;
    std::size_t work = 0;
    for (TagHistory* history : slice(arrivals[index_of(type)], from, max)) {
      if (work >= kMostWork) break;
      work += visit_one(*history);
      ++visited;
    }
    return visited;
  }

  void activate(TagHistory& history) {
    if (history.active_index != TagHistory::kInactive || history.window_empty()) return;
    history.active_index = static_cast<std::uint32_t>(active.size());
    active.push_back(&history);
  }

  // Moves the last tag to the freed place. Tags that wait for rotate() stay below to_rotate.
  void deactivate(TagHistory& history) {
    if (history.active_index == TagHistory::kInactive) return;
    active[history.active_index] = active.back();
    active.back()->active_index = history.active_index;
    active.pop_back();
    history.active_index = TagHistory::kInactive;
    to_rotate = std::min(to_rotate, active.size());
  }

  // While the pool is coarsening, each incoming delta coarsens one stored tag: memory shrinks as
  // fast as it could grow. A tag that moves within `active` meanwhile may be missed, and stays
  // finer for at most one period.
  void coarsen_next() {
    if (!pool.coarsening()) [[likely]]
      return;
    if (next_to_coarsen < active.size()) {
      active[next_to_coarsen++]->coarsen(pool);
    } else {
      next_to_coarsen = 0;
      pool.coarsening_done();
    }
  }

  // The same for cumulative histograms: of all tags, called after each change that may have added
  // to one.
  void coarsen_cumulative() {
    if (!cumulative.memory().coarsening()) [[likely]]
      return;
    const auto& transactions = arrivals[index_of(TraceType::Transact)];
    const auto& observations = arrivals[index_of(TraceType::Observe)];
    for (std::size_t i = 0; i < kCoarsenedAtOnce; ++i) {
      const std::size_t next = cumulative.next_to_coarsen++;
      if (next < transactions.size()) {
        transactions[next]->coarsen_cumulative(cumulative.memory());
      } else if (next - transactions.size() < observations.size()) {
        observations[next - transactions.size()]->coarsen_cumulative(cumulative.memory());
      } else {
        cumulative.next_to_coarsen = 0;
        cumulative.memory().coarsening_done();
        return;
      }
    }
  }

  void set_aside() {
    if (discarded.empty()) {
      discarded.swap(histories);
      return;
    }
    for (auto& block : histories) discarded.push_back(std::move(block));
    histories.clear();
  }

  // While more than one whole life waits to be freed, each new history frees two old ones. So
  // memory stays bounded even if resets come faster than take_discarded().
  void brake_resets() {
    const std::size_t blocks_of_a_life = options.most_tags() / kBlock + kTraceTypes.size();
    for (int i = 0; i < 2 && discarded.size() > blocks_of_a_life; ++i) {
      discarded.back()->pop_back();
      if (discarded.back()->empty()) discarded.pop_back();
    }
  }

  EngineOptions options;
  WindowClock clock;
  std::int64_t current = 0;  // interval
  Instant interval_end;      // of the current one
  HistogramPool pool;        // the window's
  CumulativePool cumulative;
  TagRegistry tags;
  mutable EngineCounters counters;
  std::array<std::uint64_t, kTraceTypes.size()> origin_changes{};
  // Counts all generations' changes. Relaxed: they are read under the mutex under which they are
  // counted.
  std::atomic<std::uint64_t> changes{0};

  // Histories lie in blocks that are never empty and never grow. So a history keeps its address,
  // close to the next ones that a fetch reads, and apart from data that outlives a reset.
  static constexpr std::size_t kBlock = 64;
  using Block = std::vector<TagHistory>;

  struct Latest {
    std::int64_t life = 0;  // the history's life; in any other life the history is gone
    TagHistory* history = nullptr;
  };
  std::vector<Latest> latest;  // by TagIndex
  std::vector<std::unique_ptr<Block>> histories;
  std::array<std::vector<TagHistory*>, kTraceTypes.size()> arrivals;  // of histories, by type
  std::vector<std::unique_ptr<Block>> discarded;                      // of earlier lives

  std::vector<TagHistory*> active;  // tags whose window is not empty
  std::size_t to_rotate = 0;        // active tags from this index on are at the current interval
  std::size_t next_to_coarsen = 0;
};

Engine::Engine(const EngineOptions& options, const std::vector<KnownInstance>& known, Instant now)
    : implementation_(std::make_unique<Implementation>(options, known, now)) {}

Engine::~Engine() = default;

void Engine::begin_numbers_after(const Numbers& reserved) {
  implementation_->tags.begin_numbers_after(reserved);
}

std::uint32_t Engine::life() const {
  return static_cast<std::uint32_t>(implementation_->tags.life());
}

const Numbers& Engine::highest_numbers() const { return implementation_->tags.highest_numbers(); }

TagIndex Engine::tag(TraceType type, std::string_view name) {
  assert(is_tag(name));
  Implementation& my = *implementation_;
  const TagIndex found = my.tags.find_or_add(type, name);
  my.make_latest();
  return found;
}

TagIndex Engine::folded_tag(TraceType type, std::string_view bare_name) {
  assert(is_tag(bare_name));
  Implementation& my = *implementation_;
  const TagIndex found = my.tags.find_or_add_folded(type, bare_name);
  my.make_latest();
  return found;
}

void Engine::note_origin(TagIndex tag, const std::shared_ptr<const Origin>& origin) {
  Implementation& my = *implementation_;
  tag = TagRegistry::without_mark(tag);
  if (my.tags.note_origin(tag, origin)) my.note_origin_change(tag);
  const TagHistory* const history = my.history_in_this_life(tag);
  if (history == nullptr || history->tag() == tag) return;  // else calls go there
  if (my.tags.note_origin(history->tag(), origin)) my.note_origin_change(history->tag());
}

bool Engine::describe(TagIndex tag, std::shared_ptr<const LabelText>& description) {
  Implementation& my = *implementation_;
  if (TagRegistry::is_folded(tag)) return true;  // a folded tag does not describe its bare name
  switch (my.tags.describe(tag, description)) {
    case TagRegistry::Described::First:
      my.note_origin_change(tag);
      return true;
    case TagRegistry::Described::Again:
      return true;
    case TagRegistry::Described::Otherwise:
      return false;
  }
  return true;
}

void Engine::apply_value(TagIndex tag, double value, Instant now) {
  Implementation& my = *implementation_;
  my.advance_to(now);
  TagHistory& history = my.history_of(tag, 1, now);
  history.add(value, my.pool);
  my.activate(history);
  my.coarsen_next();
}

void Engine::apply(TagIndex tag, const Delta& delta, std::string_view histogram,
                   const wire::BatchAge& age, Instant now) {
  if (delta.empty()) return;
  Implementation& my = *implementation_;
  my.advance_to(now);
  my.add(my.history_of(tag, delta.count + delta.aborts, now), delta, histogram, age, now);
}

void Engine::apply_increments(TagIndex tag, const Delta& delta, const wire::BatchAge& age,
                              Instant now) {
  if (delta.empty()) return;
  Implementation& my = *implementation_;
  my.advance_to(now);
  TagHistory& history = my.history_of(tag, delta.count, now);
  my.add(history, history.take_increments(delta), {}, age, now);
}

TagIndex Engine::enter(TagIndex tag, const OpenShare& share, Instant now) {
  Implementation& my = *implementation_;
  my.advance_to(now);
  TagHistory& history = my.history_of(tag, 0, now);
  history.enter(share);
  return history.tag();
}

void Engine::leave(TagIndex entered, const OpenShare& share) {
  implementation_->history_in_this_life(entered)->leave(share);
}

void Engine::vanish(TagIndex tag, std::uint64_t open, Instant now) {
  Implementation& my = *implementation_;
  my.advance_to(now);
  my.history_of(tag, 0, now).vanish(open);
}

void Engine::reset(Instant now) {
  Implementation& my = *implementation_;
  my.clock.restart(now);
  my.current = 0;
  my.interval_end = my.clock.begin_of(1);
  my.set_aside();
  my.active.clear();
  my.to_rotate = 0;
  my.next_to_coarsen = 0;
  my.pool.clear();
  my.cumulative.reset();
  my.counters.tags = 0;
  for (auto& each : my.arrivals) each.clear();
  my.tags.begin_life();
  my.note_change();
}

Instant Engine::begin_of_life() const { return implementation_->clock.begin_of(0); }

Engine::Discarded Engine::take_discarded() {
  auto& discarded = implementation_->discarded;
  if (discarded.empty()) return nullptr;
  Discarded taken(discarded.back().release());
  discarded.pop_back();
  return taken;
}

void Engine::FreeHistories::operator()(void* block) const {
  delete static_cast<Implementation::Block*>(block);
}

bool Engine::rotate(Instant now, std::size_t max_tags) {
  Implementation& my = *implementation_;
  my.advance_to(now);
  for (std::size_t done = 0; my.to_rotate > 0 && done < max_tags;) {
    TagHistory& history = *my.active[--my.to_rotate];
    done += std::max<std::size_t>(my.bring_up(history), 1);
  }
  return my.to_rotate > 0;
}

Instant Engine::next_rotation(Instant now) const {
  const Implementation& my = *implementation_;
  return my.to_rotate > 0 || !my.discarded.empty() ? now : my.interval_end;
}

std::size_t Engine::snapshot(TraceType type, std::size_t from, std::size_t max, Instant now,
                             std::vector<TagValues>& out) {
  Implementation& my = *implementation_;
  return my.visit(type, from, max, now, [&](TagHistory& history) {
    const std::size_t work = my.bring_up(history);
    TagValues& values = out.emplace_back();
    values.instance = my.tags.instance(history.tag());
    history.copy_to(values, now);
    return work;
  });
}

std::size_t Engine::histograms(TraceType type, std::size_t from, std::size_t max, Instant now,
                               std::vector<IntervalHistogram>& out) {
  Implementation& my = *implementation_;
  return my.visit(type, from, max, now, [&](TagHistory& history) {
    my.bring_up(history);
    const std::string_view packed = history.last_histogram();
    if (!packed.empty())
      out.push_back(
          {my.tags.instance(history.tag()), my.clock.begin_of(my.current), std::string(packed)});
    return Implementation::work_of(history);
  });
}

void Engine::begin_cumulative(Instant now) {
  Implementation& my = *implementation_;
  if (my.cumulative.begun()) return;
  my.advance_to(now);
  my.cumulative.begin(std::max(now, my.clock.begin_of(my.current)), my.current);
}

std::size_t Engine::cumulative(TraceType type, std::size_t from, std::size_t max, Instant now,
                               const std::function<bool(std::int32_t)>& wanted,
                               std::vector<CumulativeSample>& out) {
  Implementation& my = *implementation_;
  if (!my.cumulative.begun()) return 0;
  return my.visit(type, from, max, now, [&](TagHistory& history) -> std::size_t {
    const std::int32_t instance = my.tags.instance(history.tag());
    if (!wanted(instance)) return 0;
    const std::size_t work = 1 + my.bring_up(history);
    CumulativeSample& sample = out.emplace_back();
    sample.instance = instance;
    history.copy_to(sample, my.cumulative);
    return work;
  });
}

std::size_t Engine::instances(TraceType type, std::size_t from, std::size_t max,
                              std::vector<InstanceName>& out) const {
  const Implementation& my = *implementation_;
  const auto histories = slice(my.arrivals[index_of(type)], from, max);
  for (const TagHistory* history : histories) {
    out.push_back(my.tags.instance_name(history->tag()));
  }
  return histories.size();
}

std::size_t Engine::known_instances(std::size_t from, std::size_t max,
                                    std::vector<KnownInstance>& out) const {
  return implementation_->tags.known_instances(from, max, out);
}

Engine::Generation Engine::generation(TraceType type) const {
  const Implementation& my = *implementation_;
  const std::size_t index = index_of(type);
  return {static_cast<std::uint64_t>(my.tags.life()) - 1, my.arrivals[index].size(),
          my.origin_changes[index]};
}

std::uint64_t Engine::changes() const {
  return implementation_->changes.load(std::memory_order_relaxed);
}

const EngineCounters& Engine::counters() const {
  EngineCounters& counters = implementation_->counters;
  counters.coarsenings = implementation_->pool.coarsenings();
  counters.histogram_bytes = implementation_->pool.bytes();
  counters.cumulative_bytes = implementation_->cumulative.memory().bytes();
  return counters;
}

const EngineOptions& Engine::options() const { return implementation_->options; }

}  // namespace pcp::trace::agent
