// SPDX-License-Identifier: LGPL-2.1-or-later
#include "open/open_report.hpp"

#include <algorithm>

#include "wire/batch.hpp"

namespace pcp::trace::client {
namespace {

// Longest OpenCount of one tag.
constexpr std::size_t kMostBytes = 40;

// Requires: both are before the present moment `now`.
bool is_older(Moment a, Moment b, Moment now) {
  const bool same_clock = ((a ^ b) & 1) == 0;
  return same_clock ? a < b : seconds_since(a, now) > seconds_since(b, now);
}

std::uint64_t age_ns(Moment begun, Moment now) {
  return static_cast<std::uint64_t>(seconds_since(begun, now) * 1e9);
}

}  // namespace

OpenReport::State& OpenReport::state_of(const Tag& tag) {
  if (tag.id >= index_.size()) index_.resize(std::max<std::size_t>(tag.id + 1, end_of_tag_ids()));
  std::uint32_t& index = index_[tag.id];
  if (index == 0) {
    states_.push_back({.tag = &tag});
    index = static_cast<std::uint32_t>(states_.size());
  }
  return states_[index - 1];
}

void OpenReport::see(const Tag& tag, Moment begun, const Recorder& recorder, Moment now) {
  State& state = state_of(tag);
  if (state.seen.oldest == 0 || is_older(begun, state.seen.oldest, now)) {
    state.seen.oldest = begun;
    state.recorder = &recorder;
  }
  ++state.seen.count;
}

bool OpenReport::scan(const Recorders& recorders) {
  if (has_ended_) return false;
  for (State& state : states_) {
    state.seen = {};
    state.recorder = nullptr;
  }
  const Moment now = present_moment();
  recorders.for_each([&](Recorder& each) {
    each.open().for_each([&](const Tag* tag, Moment begun) { see(*tag, begun, each, now); });
  });
  recorders.open_entries().for_each_counted(
      [&](const Tag& tag, std::uint64_t count) { see_counted(tag, count, now); });
  return compare();
}

// Counted transactions have no known begin: uses the time they were first seen.
void OpenReport::see_counted(const Tag& tag, std::uint64_t count, Moment now) {
  State& state = state_of(tag);
  state.seen.count += count;
  if (state.seen.oldest == 0)
    state.seen.oldest = state.found.oldest != 0 ? state.found.oldest : now;
}

bool OpenReport::compare() {
  bool differs = false;
  open_tags_ = 0;
  for (State& state : states_) {
    if (state.recorder != nullptr) state.seen.thread = state.recorder->thread_of(state.seen.oldest);
    differs |= state.seen != state.found;
    state.found = state.seen;
    open_tags_ += state.found.count > 0 ? 1 : 0;
    if (state.found != state.told) add_news(state);
  }
  return differs;
}

void OpenReport::add_news(State& state) {
  if (state.is_news) return;
  news_.push_back(static_cast<std::uint32_t>(&state - states_.data()));
  state.is_news = true;
}

void OpenReport::begin_anew() {
  is_anew_ = true;
  tell_again();
}

void OpenReport::tell_again() {
  for (State& state : states_) {
    state.told = {};
    if (state.found != state.told) add_news(state);
  }
}

void OpenReport::on_goodbye() {
  has_ended_ = true;
  states_.clear();
  index_.clear();
  news_.clear();
  open_tags_ = 0;
  ever_told_ = false;
}

OpenReport::Told OpenReport::tell(std::size_t max_bytes) {
  in_flight_.clear();
  tags_.clear();
  const Moment now = present_moment();
  std::size_t told = 0;
  for (; told < news_.size() && in_flight_.size() + kMostBytes <= max_bytes; ++told) {
    State& state = states_[news_[told]];
    state.is_news = false;
    if (state.found == state.told) continue;  // changed back meanwhile
    tags_.push_back(state.tag);
    wire::OpenCount count{.tag_id = state.tag->id,
                          .open = std::min(state.found.count, wire::kMaxOpen)};
    count.tid = state.found.thread;
    if (state.found.oldest != 0) count.oldest_ns = age_ns(state.found.oldest, now);
    wire::append_open_count(in_flight_, count);
    state.told = state.found;
    ever_told_ = true;
  }
  news_.erase(news_.begin(), news_.begin() + static_cast<std::ptrdiff_t>(told));
  return {in_flight_, std::exchange(is_anew_, false), tags_};
}

}  // namespace pcp::trace::client
