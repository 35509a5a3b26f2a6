// SPDX-License-Identifier: LGPL-2.1-or-later
// Captured spans and events on their way to the flusher.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include <concurrentqueue.h>

#include "record/captures.hpp"
#include "record/tag_registry.hpp"
#include "record/trace_context.hpp"

namespace pcp::trace::client {

class SpanNotes;

struct CapturedSpan {
  const Tag* tag = nullptr;
  SpanNotes* notes = nullptr;     // deleted by the receiver; null: none
  TraceContext context;           // with its places
  std::uint64_t begin_ns = 0;     // by the monotonic clock
  std::uint64_t duration_ns = 0;  // of spans
  double value = 0;               // of events
  CaptureSet::Epoch epoch = 0;    // of the set that defines its places
  Places slow_tops = 0;           // slower= places whose top it is
  std::uint32_t tid = 0;
  wire::SpanKind kind = wire::SpanKind::Internal;
  bool aborted = false;
};

struct SpanQueueTraits : moodycamel::ConcurrentQueueDefaultTraits {
  static const std::size_t BLOCK_SIZE = 16;
  static const std::size_t EXPLICIT_INITIAL_INDEX_SIZE = 8;
};

class SpanQueue {
 public:
  static constexpr std::uint32_t kMost = 16'384;  // of all threads, 1.5 MiB

  using Queue = moodycamel::ConcurrentQueue<CapturedSpan, SpanQueueTraits>;
  using Token = std::optional<moodycamel::ProducerToken>;

  // False if there is no room. Makes the token at a thread's first span. Thread: any.
  bool put(Token& token, const CapturedSpan& span) {
    if (waiting_.fetch_add(1, std::memory_order_relaxed) < kMost) {
      if (!token) token.emplace(queue_);
      if (token->valid() && queue_.enqueue(*token, span)) return true;
    }
    waiting_.fetch_sub(1, std::memory_order_relaxed);
    return false;
  }

  // Thread: the flusher's, also below.
  bool take(CapturedSpan& span) {
    if (!queue_.try_dequeue(span)) return false;
    is_settled_.store(false, std::memory_order_relaxed);
    waiting_.fetch_sub(1, std::memory_order_release);
    return true;
  }

  // `all`: everything taken so far is delivered, or known to be lost.
  void note_settled(bool all) { is_settled_.store(all, std::memory_order_relaxed); }

  // True if every span ever put is delivered or known to be lost. Thread: any, also in a handler.
  // The acquire pairs with take(): if all is taken, its store to is_settled_ is visible.
  bool has_settled() const {
    return waiting_.load(std::memory_order_acquire) == 0 &&
           is_settled_.load(std::memory_order_relaxed);
  }

  // True about once per quarter of the queue filled.
  bool wants_to_be_sorted() const { return waiting() % (kMost / 4) == 0; }
  bool is_half_full() const { return waiting() > kMost / 2; }
  std::uint64_t waiting() const { return waiting_.load(std::memory_order_relaxed); }

 private:
  Queue queue_{0};
  std::atomic<std::uint32_t> waiting_{0};  // or about to wait; released by take()
  std::atomic<bool> is_settled_{true};
};

}  // namespace pcp::trace::client
