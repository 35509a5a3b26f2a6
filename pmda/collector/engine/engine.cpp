// SPDX-License-Identifier: LGPL-2.1-or-later
#include "collector/engine/engine.hpp"

#include <algorithm>
#include <cassert>
#include <iterator>
#include <utility>

#include "collector/engine/tag_history.hpp"

namespace pcp::trace::agent {

namespace {

// The most tags whose buckets are processed per hold of the mutex.
constexpr std::size_t kMostWork = 32;

// Tags per step of coarsening cumulative histograms. More than one, because many tags have none.
constexpr std::size_t kCoarsenedAtOnce = 4;

}  // namespace

Engine::Engine(const EngineOptions& options, const std::vector<KnownInstance>& known, Instant now)
    : options_(options),
      clock_(options.period, options.buckets, now),
      life_began_(now),
      interval_end_(clock_.begin_of(1)),
      pool_(options.max_histogram_bytes),
      cumulative_(options.max_cumulative_bytes),
      tags_(options, known) {
  latest_.reserve(tags_.max_size());
  make_latest();
}

// Moves the engine to the interval of `now`. The tags follow one by one.
void Engine::advance_to(Instant now) {
  if (now < interval_end_ || options_.is_paced_by_reader) [[likely]]
    return;
  begin_interval(clock_.interval_at(now));
}

void Engine::advance_for_reader(Instant now) {
  if (!options_.is_paced_by_reader) return advance_to(now);
  if (now < interval_end_) return;
  clock_.rename(clock_.interval_at(now), current_ + 1);
  begin_interval(current_ + 1);
}

void Engine::begin_interval(std::int64_t interval) {
  counters_.rotations += static_cast<std::uint64_t>(interval - current_);
  current_ = interval;
  interval_end_ = clock_.begin_of(current_ + 1);
  to_rotate_ = active_.size();
  pool_.refine();
  cumulative_.memory.refine();
}

// Gives the history that takes this tag's values, at the current interval: the tag's own or,
// without room, the history of its bare name or of "(overflow)".
TagHistory& Engine::history_of(TagIndex tag, std::uint64_t calls, Instant now) {
  const TagIndex named = TagDirectory::without_mark(tag);
  TagHistory* history = history_in_this_life(named);
  if (named != tag) [[unlikely]] {
    history = &history_of_bare(named, now);
  } else if (history == nullptr) [[unlikely]] {
    history = &begin_history(tag, now);
  }
  if (history->tag() != tag) [[unlikely]]
    add_calls(TagDirectory::is_overflow(history->tag()) ? counters_.overflowed : counters_.folded,
              calls);
  bring_up(*history);
  return *history;
}

TagHistory& Engine::begin_history(TagIndex tag, Instant now) {
  if (admit(tag, options_.max_tags)) return add_history(tag, now);
  const TagIndex bare = tags_.find_or_add_bare(tag);
  make_latest();
  TagHistory& history =
      bare == tag ? overflow_history(tags_.type(tag), now) : history_of_bare(bare, now);
  latest_[tag] = {tags_.life(), &history};
  if (tags_.note_origin_of(history.tag(), tag)) note_change();
  return history;
}

// For the calls of the bare name's tags with labels. Bare names have a little more room.
TagHistory& Engine::history_of_bare(TagIndex bare, Instant now) {
  TagHistory* const history = history_in_this_life(bare);
  if (history != nullptr && history->tag() == bare) return *history;
  if (admit(bare, options_.most_tags())) return add_history(bare, now);
  return overflow_history(tags_.type(bare), now);
}

TagHistory& Engine::overflow_history(TraceType type, Instant now) {
  const TagIndex tag = TagDirectory::overflow_tag(type);
  TagHistory* const history = history_in_this_life(tag);
  return history != nullptr ? *history : add_history(tag, now);
}

// False if there are `most` tags already.
bool Engine::admit(TagIndex tag, std::uint64_t most) {
  if (TagDirectory::is_overflow(tag)) return true;
  if (counters_.tags >= most || !tags_.note_values(tag)) return false;
  ++counters_.tags;
  return true;
}

TagHistory& Engine::add_history(TagIndex tag, Instant now) {
  brake_resets();
  if (histories_.empty() || histories_.back()->size() == kBlock) {
    auto block = std::make_unique<Block>();
    block->reserve(kBlock);
    histories_.push_back(std::move(block));
  }
  TagHistory& history = histories_.back()->emplace_back(tag, tags_.type(tag));
  if (cumulative_.begun) history.begin_cumulative(now, cumulative_);
  latest_[tag] = {tags_.life(), &history};
  arrivals_[index_of(tags_.type(tag))].push_back(&history);
  note_change();
  return history;
}

// Adds to `values`, which are the history itself or those that failed.
void Engine::add(TagHistory& history, TagHistory& values, const Delta& delta,
                 std::string_view histogram, const wire::BatchAge& age, Instant now) {
  const auto recent = static_cast<std::uint64_t>(clock_.interval_length().count());
  if (age.first_ns <= recent || options_.is_paced_by_reader) {
    values.add(delta, histogram, pool_);
  } else {
    const BatchShares shares(age, clock_, current_, now);
    add_calls(counters_.late,
              values.add_late(delta, histogram, shares, options_.buckets, pool_, cumulative_));
    coarsen_cumulative();
  }
  activate(history);
  coarsen_next();
}

// The work of processing a tag's buckets: 1 for a usual tag, more for a very fine window.
std::size_t Engine::work_of(const TagHistory& history) {
  constexpr std::size_t kUsualBuckets = 16;
  return 1 + history.window_size() / kUsualBuckets;
}

// Gives the work it took.
std::size_t Engine::bring_up(TagHistory& history) {
  if (history.interval() == current_) [[likely]]
    return 0;
  const std::size_t work = work_of(history);
  if (!history.advance(current_, options_.buckets, pool_, cumulative_)) deactivate(history);
  coarsen_cumulative();
  return work;
}

// Visits tags of a type until the work reported by the visits reaches the limit. Gives the number
// of tags visited.
template <typename Visit>
std::size_t Engine::visit(TraceType type, std::size_t from, std::size_t max, Instant now,
                          Visit visit_one) {
  advance_for_reader(now);
  std::size_t visited = 0;
  std::size_t work = 0;
  for (TagHistory* history : slice(arrivals_[index_of(type)], from, max)) {
    if (work >= kMostWork) break;
    work += visit_one(*history);
    ++visited;
  }
  return visited;
}

void Engine::activate(TagHistory& history) {
  if (history.active_index != TagHistory::kInactive || history.is_window_empty()) return;
  history.active_index = static_cast<std::uint32_t>(active_.size());
  active_.push_back(&history);
}

// Moves the last tag to the freed index. Tags that wait for rotate() stay below to_rotate_.
void Engine::deactivate(TagHistory& history) {
  if (history.active_index == TagHistory::kInactive) return;
  active_[history.active_index] = active_.back();
  active_.back()->active_index = history.active_index;
  active_.pop_back();
  history.active_index = TagHistory::kInactive;
  to_rotate_ = std::min(to_rotate_, active_.size());
}

// While the pool is coarsening, each incoming delta coarsens one stored tag: memory shrinks as
// fast as it could grow. A tag that moves within `active_` meanwhile may be missed, and stays
// finer for at most one period.
void Engine::coarsen_next() {
  if (!pool_.is_coarsening()) [[likely]]
    return;
  if (pool_.next_to_coarsen < active_.size()) {
    active_[pool_.next_to_coarsen++]->coarsen(pool_);
  } else {
    pool_.coarsening_done();
  }
}

// The same for the cumulative histograms of all tags. Call it after each change that may have added
// to one.
void Engine::coarsen_cumulative() {
  if (!cumulative_.memory.is_coarsening()) [[likely]]
    return;
  const auto& transactions = arrivals_[index_of(TraceType::Transact)];
  const auto& observations = arrivals_[index_of(TraceType::Observe)];
  for (std::size_t i = 0; i < kCoarsenedAtOnce; ++i) {
    const std::size_t next = cumulative_.memory.next_to_coarsen++;
    if (next < transactions.size()) {
      transactions[next]->coarsen_cumulative(cumulative_.memory);
    } else if (next - transactions.size() < observations.size()) {
      observations[next - transactions.size()]->coarsen_cumulative(cumulative_.memory);
    } else {
      cumulative_.memory.coarsening_done();
      return;
    }
  }
}

// While more than one whole life waits to be freed, each new history frees two old ones. So
// memory stays bounded even if resets come faster than take_discarded().
void Engine::brake_resets() {
  const std::size_t blocks_of_a_life = options_.most_tags() / kBlock + kTraceTypes.size();
  for (int i = 0; i < 2 && discarded_.size() > blocks_of_a_life; ++i) {
    discarded_.back()->pop_back();
    if (discarded_.back()->empty()) discarded_.pop_back();
  }
}

TagIndex Engine::tag(TraceType type, std::string_view name) {
  assert(is_tag(name));
  const TagIndex found = tags_.find_or_add(type, name);
  make_latest();
  return found;
}

TagIndex Engine::folded_tag(TraceType type, std::string_view bare_name) {
  assert(is_tag(bare_name));
  const TagIndex found = tags_.find_or_add_folded(type, bare_name);
  make_latest();
  return found;
}

void Engine::note_origin(TagIndex tag, const std::shared_ptr<const Origin>& origin) {
  tag = TagDirectory::without_mark(tag);
  if (tags_.note_origin(tag, origin)) note_change();
  const TagHistory* const history = history_in_this_life(tag);
  if (history == nullptr || history->tag() == tag) return;  // otherwise the tag shares this history
  if (tags_.note_origin(history->tag(), origin)) note_change();
}

bool Engine::describe(TagIndex tag, std::shared_ptr<const LabelText>& description) {
  if (TagDirectory::is_folded(tag)) return true;  // a folded tag does not describe its bare name
  switch (tags_.describe(tag, description)) {
    case TagDirectory::Described::First:
      note_change();
      return true;
    case TagDirectory::Described::Again:
      return true;
    case TagDirectory::Described::Otherwise:
      return false;
  }
  return true;
}

void Engine::apply_value(TagIndex tag, double value, Instant now) {
  advance_to(now);
  TagHistory& history = history_of(tag, 1, now);
  history.add(value, pool_);
  activate(history);
  coarsen_next();
}

void Engine::apply(TagIndex tag, const Delta& delta, std::string_view histogram,
                   const wire::BatchAge& age, Instant now) {
  if (delta.empty()) return;
  advance_to(now);
  TagHistory& history = history_of(tag, delta.count, now);
  add(history, history, delta, histogram, age, now);
}

void Engine::apply_failures(TagIndex tag, const Delta& failed, std::string_view histogram,
                            const wire::BatchAge& age, Instant now) {
  if (failed.empty()) return;
  advance_to(now);
  TagHistory& history = history_of(tag, failed.count, now);
  add(history, history.failures(now, cumulative_), failed, histogram, age, now);
}

void Engine::apply_increments(TagIndex tag, const Delta& delta, const wire::BatchAge& age,
                              Instant now) {
  if (delta.empty()) return;
  advance_to(now);
  TagHistory& history = history_of(tag, delta.count, now);
  add(history, history, history.apply_increments(delta), {}, age, now);
}

TagIndex Engine::enter(TagIndex tag, const OpenShare& share, Instant now) {
  advance_to(now);
  TagHistory& history = history_of(tag, 0, now);
  history.enter(share);
  return history.tag();
}

void Engine::leave(TagIndex entered, const OpenShare& share) {
  history_in_this_life(entered)->leave(share);
}

void Engine::vanish(TagIndex tag, std::uint64_t open, Instant now) {
  advance_to(now);
  history_of(tag, open, now).vanish(open);
}

void Engine::reset(Instant now) {
  // First, since an allocation may throw. None is the rule: it takes long after many histograms
  // were freed.
  if (discarded_.empty()) {
    discarded_.swap(histories_);
  } else {
    discarded_.insert(discarded_.end(), std::make_move_iterator(histories_.begin()),
                      std::make_move_iterator(histories_.end()));
    histories_.clear();
  }
  clock_.restart(now);
  life_began_ = now;
  current_ = 0;
  interval_end_ = clock_.begin_of(1);
  active_.clear();
  to_rotate_ = 0;
  pool_.clear();
  cumulative_.first_interval = 0;
  cumulative_.memory.clear();
  counters_.tags = 0;
  for (auto& each : arrivals_) each.clear();
  tags_.begin_life();
  note_change();
}

bool Engine::change_period(Duration period, Instant now) {
  assert(options_.buckets == 1);
  advance_to(now);
  if (clock_.interval_at(now) < current_) return false;
  options_.period = period;
  clock_.change_period(period, current_);
  interval_end_ = clock_.begin_of(current_ + 1);
  return true;
}

Engine::Discarded Engine::take_discarded() {
  if (discarded_.empty()) return nullptr;
  Discarded taken = std::move(discarded_.back());
  discarded_.pop_back();
  return taken;
}

bool Engine::rotate(Instant now, std::size_t max_tags) {
  advance_to(now);
  for (std::size_t done = 0; to_rotate_ > 0 && done < max_tags;) {
    TagHistory& history = *active_[--to_rotate_];
    done += std::max<std::size_t>(bring_up(history), 1);
  }
  return to_rotate_ > 0;
}

Instant Engine::next_rotation(Instant now) const {
  if (to_rotate_ > 0 || !discarded_.empty()) return now;
  return options_.is_paced_by_reader ? Instant::max() : interval_end_;
}

std::size_t Engine::snapshot(TraceType type, std::size_t from, std::size_t max, Instant now,
                             std::vector<TagValues>& out) {
  return visit(type, from, max, now, [&](TagHistory& history) {
    const std::size_t work = bring_up(history);
    TagValues& values = out.emplace_back();
    values.instance = tags_.instance(history.tag());
    history.copy_to(values, now);
    return work;
  });
}

void Engine::begin_cumulative(Instant now) {
  if (cumulative_.begun) return;
  advance_to(now);
  cumulative_.begun = true;
  cumulative_.since = std::max(now, clock_.begin_of(current_));
  cumulative_.first_interval = current_;
}

std::size_t Engine::cumulative(TraceType type, Outcome outcome, std::size_t from, std::size_t max,
                               Instant now, const std::function<bool(std::int32_t)>& wanted,
                               std::vector<CumulativeSample>& out) {
  if (!cumulative_.begun) return 0;
  return visit(type, from, max, now, [&](TagHistory& history) -> std::size_t {
    const TagHistory* const values = outcome == Outcome::Failed ? history.failures() : &history;
    const std::int32_t instance = tags_.instance(history.tag());
    if (values == nullptr || !wanted(instance)) return 0;
    const std::size_t work = 1 + bring_up(history);
    CumulativeSample& sample = out.emplace_back();
    sample.instance = instance;
    values->copy_to(sample, cumulative_);
    return work;
  });
}

std::size_t Engine::instances(TraceType type, std::size_t from, std::size_t max,
                              std::vector<InstanceName>& out) const {
  const auto histories = slice(arrivals_[index_of(type)], from, max);
  for (const TagHistory* history : histories) {
    out.push_back(tags_.instance_name(history->tag()));
  }
  return histories.size();
}

EngineCounters Engine::counters() const {
  EngineCounters counters = counters_;
  counters.coarsenings = pool_.coarsenings();
  counters.histogram_bytes = pool_.bytes();
  counters.cumulative_bytes = cumulative_.memory.bytes();
  return counters;
}

}  // namespace pcp::trace::agent
