// SPDX-License-Identifier: LGPL-2.1-or-later
// Captures and what they have brought, as the main thread, which answers monitors, and the ingest
// thread share them. Its mutex is its own, so that spans never keep anybody from the engine; nobody
// holds it for long.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "collector/engine/courteous_mutex.hpp"
#include "collector/spans/captures.hpp"
#include "collector/spans/span_store.hpp"

namespace pcp::trace::agent {

// Why programs have captured what they do not send.
enum class MissedCause { Full, Limit, Waiting, Away };
inline constexpr std::size_t kMissedCauses = 4;
using MissedCounts = std::array<std::uint64_t, kMissedCauses>;  // by cause

// What programs say of a capture, as far as it is new.
struct CaptureNews {
  std::uint64_t capture = 0;  // its id
  std::uint64_t captured = 0;
  MissedCounts missed{};
};

// Since the start, all captures together, and what there is now.
struct SpanTotals {
  std::uint64_t captured = 0;
  std::uint64_t delivered = 0;  // to each monitor
  MissedCounts missed{};
  std::uint64_t overwritten = 0;
  std::uint32_t captures = 0;
  std::uint64_t bytes = 0;
};

class Spans {
 public:
  static constexpr std::size_t kUsualBytes = 64u << 20;

  explicit Spans(std::size_t most_bytes = kUsualBytes) : store_(most_bytes) {}

  // One monitor's way to what it has asked for, which is captured as long as this is there.
  // Thread: the main one.
  class Monitor {
   public:
    ~Monitor();
    Monitor(const Monitor&) = delete;
    Monitor& operator=(const Monitor&) = delete;

    // Its next spans, at most so many; take() says how many of the first it has had of them.
    SpanReading read(std::size_t most) const;
    void take(const SpanReading& reading, std::size_t taken);

    // How many wait, or a few more.
    std::size_t waiting() const;

   private:
    friend class Spans;
    explicit Monitor(Spans& spans) : spans_(spans) {}

    Spans& spans_;
    std::optional<SpanStore::Cursor> cursor_;  // nothing only while it is made
  };

  // Null if all places are taken. Thread, as of the next: the main one.
  std::unique_ptr<Monitor> capture(const std::string& filter, Audience audience);
  void set_most_bytes(std::size_t bytes);

  // Is called when captures have changed, on the thread that has changed them. Requires: set before
  // there are threads.
  void set_bell(std::function<void()> bell) { bell_ = std::move(bell); }

  // Thread: any.
  std::shared_ptr<const Captures> captures() const;
  std::size_t most_bytes() const;
  SpanTotals totals() const;

  // Of the last change. Only tells that captures() would give something else: relaxed will do.
  std::uint64_t number() const { return number_.load(std::memory_order_relaxed); }

  // Thread, as of the rest: the ingest thread. Keeps spans of a process of this user that it has
  // captured knowing of the captures up to this number.
  void add(std::vector<StoredSpan>& spans, std::uint64_t number, std::uint32_t uid,
           const std::string& owner);

  void note(const CaptureNews& news);

  // As that of the store.
  bool sweep();

 private:
  void publish(std::shared_ptr<const Captures> captures) TRACE_REQUIRES(mutex_);
  void end(SpanStore::Cursor cursor);

  mutable CourteousMutex mutex_;  // main thread: a Lock; ingest thread: a CourteousLock
  Captures captures_ TRACE_GUARDED_BY(mutex_);
  SpanStore store_ TRACE_GUARDED_BY(mutex_);
  SpanTotals totals_ TRACE_GUARDED_BY(mutex_);
  std::shared_ptr<const Captures> published_ TRACE_GUARDED_BY(mutex_) =
      std::make_shared<const Captures>();
  std::atomic<std::uint64_t> number_{1};
  std::function<void()> bell_;
};

}  // namespace pcp::trace::agent
