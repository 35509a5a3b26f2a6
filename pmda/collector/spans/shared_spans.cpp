// SPDX-License-Identifier: LGPL-2.1-or-later
#include "collector/spans/shared_spans.hpp"

#include <algorithm>
#include <bit>
#include <new>
#include <numeric>
#include <utility>

#include "base/clock.hpp"

namespace pcp::trace::agent {

namespace {

// Spans added per hold of the mutex, so that a fetch waits for one step at most.
constexpr std::size_t kAtOnce = 100;

}  // namespace

// Steps that may run out of memory come first: on failure nothing has changed.
std::unique_ptr<SharedSpans::Subscription> SharedSpans::capture(const std::string& filter,
                                                                Audience audience) {
  std::unique_ptr<Subscription> subscription(new Subscription(*this));
  {
    const Lock lock(mutex_);
    CaptureTable changed = captures_;
    const auto bit = changed.open(filter, audience);
    if (!bit) return nullptr;
    auto captures = std::make_shared<const CaptureTable>(changed);
    subscription->cursor_ = store_.open_cursor(*bit);
    subscription->next_wanted_ = wanted_.end();
    captures_ = std::move(changed);
    publish(std::move(captures));
  }
  if (bell_) bell_();
  return subscription;
}

// Without memory, programs continue unwanted captures until the next change.
void SharedSpans::close(SpanStore::Cursor cursor) {
  try {
    const Lock lock(mutex_);
    const std::size_t bit = cursor->bit;
    store_.close_cursor(cursor);
    if (captures_.close(bit)) {
      whole_.forget(bit);
      publish(std::make_shared<const CaptureTable>(captures_));
    }
  } catch (const std::bad_alloc&) {
  }
  if (bell_) bell_();
}

void SharedSpans::publish(std::shared_ptr<const CaptureTable> captures) {
  published_ = std::move(captures);
  number_.store(published_->number(), std::memory_order_relaxed);
}

std::shared_ptr<const CaptureTable> SharedSpans::captures() const {
  const Lock lock(mutex_);
  return published_;
}

void SharedSpans::set_most_bytes(std::size_t bytes) {
  const Lock lock(mutex_);
  store_.set_most_bytes(bytes);
}

std::size_t SharedSpans::most_bytes() const {
  const Lock lock(mutex_);
  return store_.most_bytes();
}

SpanTotals SharedSpans::totals() const {
  const Lock lock(mutex_);
  SpanTotals totals = totals_;
  totals.overwritten = store_.overwritten();
  totals.captures = static_cast<std::uint32_t>(captures_.count());
  totals.bytes = store_.bytes();
  return totals;
}

void SharedSpans::add(std::vector<StoredSpan>& spans, std::uint64_t number,
                      const SendingProcess& process) {
  const Instant now = steady_now();
  for (std::size_t next = 0; next < spans.size();) {
    const CourteousLock lock(mutex_);
    const std::size_t end = std::min(spans.size(), next + kAtOnce);
    const CaptureBits known = captures_.valid_bits(~CaptureBits{0}, number, process.uid);
    const WholeTraces::Thresholds thresholds =
        whole_.thresholds(known, process.user, process.session, now);
    for (; next < end; ++next) {
      spans[next].capture_bits &= known;
      if (const CaptureBits torn = WholeTraces::torn(spans[next], thresholds); torn != 0) {
        spans[next].capture_bits &= ~torn;
        leave_out(torn, MissedCause::Limit);
      }
      if (spans[next].capture_bits != 0) store_.add(std::move(spans[next]), process.user);
    }
  }
}

void SharedSpans::leave_out(CaptureBits bits, MissedCause cause) {
  for (; bits != 0; bits &= bits - 1) {
    ++totals_.missed[static_cast<std::size_t>(cause)];
    store_.note_missed(static_cast<std::size_t>(std::countr_zero(bits)), 1);
  }
}

void SharedSpans::note(const CaptureNews& news, const std::string& user) {
  const Instant now = steady_now();
  const CourteousLock lock(mutex_);
  const auto bit = captures_.bit_of(news.capture);
  if (!bit) return;
  whole_.note(*bit, user, news.threshold, now);
  totals_.captured += news.captured;
  for (std::size_t cause = 0; cause < kMissedCauses; ++cause)
    totals_.missed[cause] += news.missed[cause];
  store_.note_missed(*bit,
                     std::accumulate(news.missed.begin(), news.missed.end(), std::uint64_t{0}));
}

void SharedSpans::add_wanted(const Wanted& wanted) {
  for (HeldSpan& held : held_.take(wanted.trace.hash)) {
    const CaptureBits bits = bits_for(held, wanted);
    store_or_hold(std::move(held), bits, steady_now());
  }
  wanted_.add(wanted);
  end_of_wanted_.store(wanted_.end(), std::memory_order_relaxed);
}

CaptureBits SharedSpans::bits_for(const HeldSpan& held, const Wanted& wanted) const {
  return captures_.valid_bits(held.span.capture_bits & wanted.trace.capture_bits,
                              std::min(held.number, wanted.number), held.uid);
}

// Stores the span for the captures that want its trace, and holds it for the others.
void SharedSpans::store_or_hold(HeldSpan held, CaptureBits wanted, Instant now) {
  held.span.capture_bits &= ~wanted;
  if (wanted != 0) {
    StoredSpan span = held.span;
    span.capture_bits = wanted;
    totals_.captured += static_cast<std::uint64_t>(std::popcount(wanted));
    store_.add(std::move(span), held.user);
  }
  if (held.span.capture_bits != 0) held_.hold(std::move(held), now);
}

void SharedSpans::hold(std::vector<StoredSpan>& spans, std::uint64_t number,
                       const SendingProcess& process) {
  const Instant now = steady_now();
  const CourteousLock lock(mutex_);
  for (StoredSpan& span : spans) {
    span.capture_bits = captures_.valid_bits(span.capture_bits, number, process.uid);
    const std::uint64_t trace = wire::hash_of_trace(span.trace_low);
    HeldSpan held{std::move(span), trace, number, process.uid, process.user};
    CaptureBits wanted = 0;
    for (const Wanted& each : wanted_.of(trace)) wanted |= bits_for(held, each);
    store_or_hold(std::move(held), wanted, now);
  }
}

void SharedSpans::want(std::span<const wire::WantedTrace> traces, std::uint64_t number) {
  {
    const CourteousLock lock(mutex_);
    for (const wire::WantedTrace& trace : traces) add_wanted({trace, number});
  }
  if (bell_) bell_();
}

std::vector<Wanted> SharedSpans::wanted_from(std::uint64_t& number, bool& has_lost) const {
  const CourteousLock lock(mutex_);
  has_lost = wanted_.has_lost(number);
  return wanted_.from(number);
}

bool SharedSpans::sweep() {
  const CourteousLock lock(mutex_);
  return store_.sweep();
}

SharedSpans::Subscription::~Subscription() {
  if (cursor_) spans_.close(*cursor_);
}

SpanReading SharedSpans::Subscription::read(std::size_t most) const {
  const Lock lock(spans_.mutex_);
  return spans_.store_.read(*cursor_, most);
}

void SharedSpans::Subscription::advance(const SpanReading& reading, std::size_t taken) {
  const Lock lock(spans_.mutex_);
  spans_.store_.advance(*cursor_, reading.after(taken));
  spans_.totals_.delivered += taken;
}

std::size_t SharedSpans::Subscription::waiting() const {
  const Lock lock(spans_.mutex_);
  return spans_.store_.waiting(*cursor_);
}

std::vector<PassedTrace> SharedSpans::Subscription::take_wanted(std::size_t most) {
  const Lock lock(spans_.mutex_);
  const std::size_t bit = (*cursor_)->bit;
  const CaptureBits mask = CaptureBits{1} << bit;
  if (spans_.wanted_.has_lost(next_wanted_)) spans_.leave_out(mask, MissedCause::Away);
  for (const Wanted& each : spans_.wanted_.from(next_wanted_)) {
    if (each.giver != this && each.monitors < PassedTrace::kMostMonitors &&
        (each.trace.capture_bits & mask) != 0 && spans_.captures_.at(bit).opened_at <= each.number)
      wanted_.push_back({each.trace.hash, each.monitors + 1});
  }
  for (; wanted_.size() > WantedTraces::kMost; wanted_.pop_front())
    spans_.leave_out(mask, MissedCause::Away);  // it takes fewer than come
  std::vector<PassedTrace> taken;
  for (; !wanted_.empty() && taken.size() < most; wanted_.pop_front())
    taken.push_back(wanted_.front());
  return taken;
}

void SharedSpans::Subscription::want(std::span<const PassedTrace> traces) {
  {
    const Lock lock(spans_.mutex_);
    const CaptureBits bits = CaptureBits{1} << (*cursor_)->bit;
    for (const PassedTrace& trace : traces)
      spans_.add_wanted({{trace.hash, bits}, spans_.captures_.number(), trace.monitors, this});
  }
  if (spans_.bell_) spans_.bell_();
}

}  // namespace pcp::trace::agent
