// SPDX-License-Identifier: LGPL-2.1-or-later
// Captures and their spans, shared by the main thread, which answers monitors, and the ingest
// thread. The own mutex, never held for long, keeps spans from delaying the engine.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/courteous_mutex.hpp"
#include "collector/spans/capture_table.hpp"
#include "collector/spans/held_spans.hpp"
#include "collector/spans/span_store.hpp"
#include "collector/spans/wanted_traces.hpp"
#include "collector/spans/whole_traces.hpp"

namespace pcp::trace::agent {

// Why programs captured spans but did not send them.
enum class MissedCause { Full, Limit, Waiting, Away };
inline constexpr std::size_t kMissedCauses = 4;
using MissedCounts = std::array<std::uint64_t, kMissedCauses>;  // by cause

// A program's new counts of a capture.
struct CaptureNews {
  std::uint64_t capture = 0;  // the capture's id
  std::uint64_t captured = 0;
  MissedCounts missed{};
  std::uint64_t threshold = 0;  // that the traces reach which it takes now
};

// The process that sends spans: one of a user, who has a uid.
struct SendingProcess {
  std::uint32_t uid = 0;
  const std::string& user;
  wire::SessionId session{};
};

// Totals since the start, over all captures; and the present state.
struct SpanTotals {
  std::uint64_t captured = 0;
  std::uint64_t delivered = 0;  // counted for each monitor
  MissedCounts missed{};
  std::uint64_t overwritten = 0;
  std::uint32_t captures = 0;
  std::uint64_t bytes = 0;
};

class SharedSpans {
 public:
  static constexpr std::size_t kUsualBytes = 64u << 20;

  explicit SharedSpans(std::size_t most_bytes = kUsualBytes) : store_(most_bytes) {}

  // One monitor's access to its spans. The capture lasts as long as this object. Thread: the main
  // one.
  class Subscription {
   public:
    ~Subscription();
    Subscription(const Subscription&) = delete;
    Subscription& operator=(const Subscription&) = delete;

    // Reads up to `most` next spans; advance() says how many of them, from the front, were used.
    SpanReading read(std::size_t most) const;
    void advance(const SpanReading& reading, std::size_t taken);

    // The number of waiting spans, or slightly more.
    std::size_t waiting() const;

    // The traces that this host's processes want for this capture, or that another monitor has
    // brought, at most so many; once each.
    std::vector<PassedTrace> take_wanted(std::size_t most);

    // Other hosts' processes want these.
    void want(std::span<const PassedTrace> traces);

   private:
    friend class SharedSpans;
    explicit Subscription(SharedSpans& spans) : spans_(spans) {}

    SharedSpans& spans_;
    std::optional<SpanStore::Cursor> cursor_;  // nothing only during construction
    std::uint64_t next_wanted_ = 0;            // number of the next wanted trace
    std::deque<PassedTrace> wanted_;           // to be taken
  };

  // Null if all bits are taken. Thread, here and for set_most_bytes(): the main one.
  std::unique_ptr<Subscription> capture(const std::string& filter, Audience audience);
  void set_most_bytes(std::size_t bytes);

  // Called when captures have changed, or traces are wanted, on that thread. Requires: set before
  // threads start.
  void set_bell(std::function<void()> bell) { bell_ = std::move(bell); }

  // Thread: any.
  std::shared_ptr<const CaptureTable> captures() const;
  std::size_t most_bytes() const;
  SpanTotals totals() const;

  // The number of the last change. relaxed: only tells that captures() would differ.
  std::uint64_t number() const { return number_.load(std::memory_order_relaxed); }

  // Stores spans of a process that captured them knowing captures up to `number`. Spans of traces
  // that other processes leave out count as missed, because of the limit. Thread, here and below:
  // the ingest thread.
  void add(std::vector<StoredSpan>& spans, std::uint64_t number, const SendingProcess& process);

  // The same of a process that ends, and of traces that nobody may want yet: stores those of wanted
  // traces, and holds the others.
  void hold(std::vector<StoredSpan>& spans, std::uint64_t number, const SendingProcess& process);

  void note(const CaptureNews& news, const std::string& user);

  // A process that knows captures up to `number` wants these.
  void want(std::span<const wire::WantedTrace> traces, std::uint64_t number);

  // Those from this number on, and moves the number. `has_lost` becomes true if there were more.
  std::vector<Wanted> wanted_from(std::uint64_t& number, bool& has_lost) const;

  // The number of the next wanted trace. Thread: any. relaxed: only tells that there are new ones.
  std::uint64_t end_of_wanted() const { return end_of_wanted_.load(std::memory_order_relaxed); }

  // See SpanStore::sweep().
  bool sweep();

 private:
  void publish(std::shared_ptr<const CaptureTable> captures) TRACE_REQUIRES(mutex_);
  void close(SpanStore::Cursor cursor);
  void leave_out(CaptureBits bits, MissedCause cause) TRACE_REQUIRES(mutex_);
  CaptureBits bits_for(const HeldSpan& held, const Wanted& wanted) const TRACE_REQUIRES(mutex_);
  void store_or_hold(HeldSpan held, CaptureBits wanted, Instant now) TRACE_REQUIRES(mutex_);
  void add_wanted(const Wanted& wanted) TRACE_REQUIRES(mutex_);

  mutable CourteousMutex mutex_;  // main thread: a Lock; ingest thread: a CourteousLock
  CaptureTable captures_ TRACE_GUARDED_BY(mutex_);
  SpanStore store_ TRACE_GUARDED_BY(mutex_);
  WholeTraces whole_ TRACE_GUARDED_BY(mutex_);
  WantedTraces wanted_ TRACE_GUARDED_BY(mutex_);
  HeldSpans held_ TRACE_GUARDED_BY(mutex_);
  SpanTotals totals_ TRACE_GUARDED_BY(mutex_);
  std::shared_ptr<const CaptureTable> published_ TRACE_GUARDED_BY(mutex_) =
      std::make_shared<const CaptureTable>();
  // Number of the published captures. Relaxed: a thread that sees another number takes the mutex.
  std::atomic<std::uint64_t> number_{1};
  std::atomic<std::uint64_t> end_of_wanted_{0};
  std::function<void()> bell_;
};

}  // namespace pcp::trace::agent
