#include "engine/engine.hpp"

#include <algorithm>
#include <cassert>
#include <limits>

#include "engine/batch_shares.hpp"
#include "engine/histogram_pool.hpp"
#include "engine/instance_names.hpp"
#include "engine/tag_history.hpp"
#include "engine/tag_table.hpp"
#include "engine/window_clock.hpp"

namespace pcp::trace::agent {

namespace {

constexpr std::string_view kOverflowName = "(overflow)";

// What stays with a tag as long as the agent lives.
struct Tag {
  TraceType type{};
  NameSuffixes suffixes = 0;
  bool origins_differ = false;
  std::int32_t instance = 0;  // 0: none yet
  std::uint32_t absent = 0;   // as in KnownInstance
  std::uint32_t life = 0;     // the life that `history` belongs to; any other: no values
  TagHistory* history = nullptr;
  std::string_view name;
  std::shared_ptr<const Origin> origin;
};

// One type's instances.
struct Domain {
  std::int32_t highest = 0;           // number given
  std::vector<TagHistory*> arrivals;  // of this life
  std::uint64_t origin_changes = 0;
};

std::vector<const KnownInstance*> least_absent(const std::vector<KnownInstance>& known,
                                               std::size_t most) {
  std::vector<const KnownInstance*> kept;
  for (const KnownInstance& each : known) kept.push_back(&each);
  const auto by_number = [](const KnownInstance* a, const KnownInstance* b) {
    return a->instance < b->instance;
  };
  std::sort(kept.begin(), kept.end(), by_number);
  if (kept.size() <= most) return kept;
  std::stable_sort(kept.begin(), kept.end(), [](const KnownInstance* a, const KnownInstance* b) {
    return a->absent < b->absent;
  });
  kept.resize(most);
  std::sort(kept.begin(), kept.end(), by_number);
  return kept;
}

}  // namespace

// A life begins at the start and at each reset. Histories belong to one life; a reset only sets
// them aside, because freeing 100,000 of them takes too long to do at once.
struct Engine::Implementation {
  // Half of the names may be known from earlier lives of the agent; the other half is for new ones.
  static constexpr std::size_t kNamesPerTag = 2;

  Implementation(const EngineOptions& engine_options, const std::vector<KnownInstance>& known,
                 Time now)
      : options(engine_options),
        clock(options.period, options.buckets, now),
        pool(options.max_histogram_bytes),
        max_names(kNamesPerTag * options.max_tags),
        table(max_names),
        names(max_names + kTraceTypes.size()) {
    tags.reserve(max_names + kTraceTypes.size());
    for (const TraceType type : kTraceTypes) {
      add_tag(type, kOverflowName);
      names.claim(type, kOverflowName, kOverflowInstance);
    }
    for (const KnownInstance& each : known) {
      domain(each.type).highest = std::max(domain(each.type).highest, each.instance);
    }
    for (const KnownInstance* each : least_absent(known, options.max_tags)) {
      const TagIndex place = add_tag(each->type, table.insert(each->type, each->tag, next_place()));
      tags[place].absent = each->absent + 1;
      number(place, each->instance);
    }
    interval_end = clock.begin_of(1);
  }

  Domain& domain(TraceType type) { return domains[index_of(type)]; }
  const Domain& domain(TraceType type) const { return domains[index_of(type)]; }

  static TagIndex overflow_place(TraceType type) { return static_cast<TagIndex>(index_of(type)); }
  static bool is_overflow(TagIndex place) { return place < kTraceTypes.size(); }
  TagIndex next_place() const { return static_cast<TagIndex>(tags.size()); }

  TagIndex add_tag(TraceType type, std::string_view kept_name) {
    Tag tag;
    tag.type = type;
    tag.name = kept_name;
    tags.push_back(std::move(tag));
    return next_place() - 1;
  }

  void number(TagIndex place, std::int32_t instance) {
    Tag& tag = tags[place];
    tag.instance = instance;
    tag.suffixes = names.claim(tag.type, tag.name, instance);
    numbered.push_back(place);
  }

  // Brings the engine to the interval of `now`; the tags follow one by one.
  void turn(Time now) {
    if (now < interval_end) [[likely]]
      return;
    const std::int64_t interval = clock.interval_at(now);
    counters.rotations += static_cast<std::uint64_t>(interval - current);
    current = interval;
    interval_end = clock.begin_of(current + 1);
    to_rotate = active.size();
    pool.refine();
  }

  // Gives the history that this tag's values go to, at the current interval: its own, or that of
  // "(overflow)".
  TagHistory& history_of(TagIndex place, std::uint64_t calls) {
    TagHistory& history = tags[place].life == life ? *tags[place].history : first_history_of(place);
    if (is_overflow(history.tag())) [[unlikely]] {
      counters.overflowed += calls;
    }
    bring_up(history);
    return history;
  }

  [[gnu::noinline]] TagHistory& first_history_of(TagIndex place) {
    Tag& tag = tags[place];
    const TagIndex overflow = overflow_place(tag.type);
    if (place != overflow && !make_room(place)) {
      return tags[overflow].life == life ? *tags[overflow].history : first_history_of(overflow);
    }
    histories.push_back(std::make_unique<TagHistory>(place, tag.type));
    tag.history = histories.back().get();
    tag.life = life;
    tag.absent = 0;
    domain(tag.type).arrivals.push_back(tag.history);
    discard(2);
    return *tag.history;
  }

  // Counts a tag that gets its first values, and gives it a number if it has none.
  bool make_room(TagIndex place) {
    Tag& tag = tags[place];
    Domain& its_domain = domain(tag.type);
    const bool numbers_left = its_domain.highest < std::numeric_limits<std::int32_t>::max();
    if (counters.tags >= options.max_tags || (tag.instance == 0 && !numbers_left)) return false;
    if (tag.instance == 0) number(place, ++its_domain.highest);
    ++counters.tags;
    return true;
  }

  void bring_up(TagHistory& history) {
    if (history.interval() == current) [[likely]]
      return;
    if (!history.advance(current, options.buckets, pool)) deactivate(history);
  }

  void activate(TagHistory& history) {
    if (history.active_place != TagHistory::kInactive || history.window_empty()) return;
    history.active_place = static_cast<std::uint32_t>(active.size());
    active.push_back(&history);
  }

  // The last one takes the free place. Tags that wait for rotate() are below to_rotate, before and
  // after.
  void deactivate(TagHistory& history) {
    if (history.active_place == TagHistory::kInactive) return;
    active[history.active_place] = active.back();
    active.back()->active_place = history.active_place;
    active.pop_back();
    history.active_place = TagHistory::kInactive;
    to_rotate = std::min(to_rotate, active.size());
  }

  // While the pool is coarsening, each delta that comes in coarsens one stored tag: memory shrinks
  // as fast as it could grow. One that changes its place meanwhile may be missed; it stays finer
  // for at most one period.
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

  void set_aside() {
    if (discarded.empty()) {
      discarded.swap(histories);
      return;
    }
    for (auto& history : histories) discarded.push_back(std::move(history));
    histories.clear();
  }

  void discard(std::size_t most) {
    discarded.resize(discarded.size() - std::min(most, discarded.size()));
  }

  EngineOptions options;
  WindowClock clock;
  std::int64_t current = 0;  // interval
  Time interval_end{};       // of the current one
  HistogramPool pool;
  std::size_t max_names;
  TagTable table;
  InstanceNames names;
  std::vector<Tag> tags;           // the first four are "(overflow)"
  std::vector<TagIndex> numbered;  // tags that have a number
  std::array<Domain, kTraceTypes.size()> domains;
  mutable EngineCounters counters;

  std::uint32_t life = 1;
  std::uint64_t resets = 0;
  std::vector<std::unique_ptr<TagHistory>> histories;  // of this life
  std::vector<std::unique_ptr<TagHistory>> discarded;
  std::vector<TagHistory*> active;  // whose window is not empty
  std::size_t to_rotate = 0;        // active ones from here on are at the current interval
  std::size_t next_to_coarsen = 0;
};

Engine::Engine(const EngineOptions& options, const std::vector<KnownInstance>& known, Time now)
    : implementation_(std::make_unique<Implementation>(options, known, now)) {}

Engine::~Engine() = default;

TagIndex Engine::tag(TraceType type, std::string_view name) {
  assert(is_tag(name));
  Implementation& my = *implementation_;
  if (const auto place = my.table.find(type, name)) return *place;
  if (my.table.full()) return my.overflow_place(type);
  return my.add_tag(type, my.table.insert(type, name, my.next_place()));
}

void Engine::note_origin(TagIndex place, const std::shared_ptr<const Origin>& origin) {
  Tag& tag = implementation_->tags[place];
  if (tag.origins_differ || tag.origin == origin) return;
  if (tag.origin != nullptr && *tag.origin == *origin) return;
  tag.origins_differ = tag.origin != nullptr;
  tag.origin = tag.origins_differ ? nullptr : origin;
  ++implementation_->domain(tag.type).origin_changes;
}

void Engine::apply_value(TagIndex place, double value, Time now) {
  Implementation& my = *implementation_;
  my.turn(now);
  TagHistory& history = my.history_of(place, 1);
  history.add(value, my.options.buckets, my.pool);
  my.activate(history);
  my.coarsen_next();
}

void Engine::apply(TagIndex place, const Delta& delta, std::string_view histogram,
                   const wire::BatchAge& age, Time now) {
  if (delta.empty()) return;
  Implementation& my = *implementation_;
  my.turn(now);
  TagHistory& history = my.history_of(place, delta.count + delta.aborts);
  const auto recent = static_cast<std::uint64_t>(my.clock.interval_length().count());
  if (age.first_ns <= recent || delta.count == 0) {
    history.add(delta, histogram, my.options.buckets, my.pool);
  } else {
    const BatchShares shares(age, my.clock, my.current, now);
    my.counters.late += history.add_late(delta, histogram, shares, my.options.buckets, my.pool);
  }
  my.activate(history);
  my.coarsen_next();
}

void Engine::reset(Time now) {
  Implementation& my = *implementation_;
  my.clock.restart(now);
  my.current = 0;
  my.interval_end = my.clock.begin_of(1);
  my.set_aside();
  my.active.clear();
  my.to_rotate = 0;
  my.next_to_coarsen = 0;
  my.pool.clear();
  my.counters.tags = 0;
  for (Domain& domain : my.domains) domain.arrivals.clear();
  ++my.resets;
  ++my.life;
}

bool Engine::rotate(Time now, std::size_t max_tags) {
  Implementation& my = *implementation_;
  my.turn(now);
  my.discard(max_tags);
  // A summary takes time in the number of buckets, so one of a very fine window counts for several.
  constexpr std::size_t kUsualBuckets = 16;
  for (std::size_t done = 0; my.to_rotate > 0 && done < max_tags;) {
    TagHistory& history = *my.active[--my.to_rotate];
    done += 1 + history.window_size() / kUsualBuckets;
    my.bring_up(history);
  }
  return my.to_rotate > 0 || !my.discarded.empty();
}

Time Engine::next_rotation(Time now) const {
  const Implementation& my = *implementation_;
  return my.to_rotate > 0 || !my.discarded.empty() ? now : my.interval_end;
}

std::size_t Engine::snapshot(TraceType type, std::size_t from, std::size_t max, Time now,
                             std::vector<TagValues>& out) {
  Implementation& my = *implementation_;
  my.turn(now);
  const auto& arrivals = my.domain(type).arrivals;
  const std::size_t count = std::min(max, arrivals.size() - std::min(from, arrivals.size()));
  for (std::size_t i = from; i < from + count; ++i) {
    TagHistory& history = *arrivals[i];
    my.bring_up(history);
    TagValues& values = out.emplace_back();
    values.instance = my.tags[history.tag()].instance;
    history.copy_to(values);
  }
  return count;
}

std::size_t Engine::instances(TraceType type, std::size_t from, std::size_t max,
                              std::vector<InstanceName>& out) const {
  const Implementation& my = *implementation_;
  const auto& arrivals = my.domain(type).arrivals;
  const std::size_t count = std::min(max, arrivals.size() - std::min(from, arrivals.size()));
  for (std::size_t i = from; i < from + count; ++i) {
    const Tag& tag = my.tags[arrivals[i]->tag()];
    out.push_back({tag.instance, shown_name(tag.name, tag.instance, tag.suffixes),
                   std::string(tag.name), tag.origin});
  }
  return count;
}

std::size_t Engine::known_instances(std::size_t from, std::size_t max,
                                    std::vector<KnownInstance>& out) const {
  const Implementation& my = *implementation_;
  const auto& numbered = my.numbered;
  const std::size_t count = std::min(max, numbered.size() - std::min(from, numbered.size()));
  for (std::size_t i = from; i < from + count; ++i) {
    const Tag& tag = my.tags[numbered[i]];
    out.push_back({tag.type, std::string(tag.name), tag.instance, tag.absent});
  }
  return count;
}

Engine::Generation Engine::generation(TraceType type) const {
  const Domain& domain = implementation_->domain(type);
  return {implementation_->resets, domain.arrivals.size(), domain.origin_changes};
}

const EngineCounters& Engine::counters() const {
  EngineCounters& counters = implementation_->counters;
  counters.coarsenings = implementation_->pool.coarsenings();
  counters.histogram_bytes = implementation_->pool.bytes();
  return counters;
}

const EngineOptions& Engine::options() const { return implementation_->options; }

}  // namespace pcp::trace::agent
