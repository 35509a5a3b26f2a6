// SPDX-License-Identifier: LGPL-2.1-or-later
// Spans of trees that only filters with slower= want, ended on this thread while their parent is
// still open here. The parent usually turns out to be fast, and all of them are dropped without the
// flusher. So a program with fast requests that stay on their threads sends nothing.
//
// take() removes all spans: the owner moves them into the queue, the flusher takes them itself.
// Then a new round begins, which tells open transactions that some of their spans are gone.
//
// Thread: the owner's, but for take(). Neither waits for the other: if the flag is taken, a call
// gives up.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <utility>

#include "record/made_when_needed.hpp"
#include "record/span_queue.hpp"

namespace pcp::trace::client {

// Memory of zeros is a valid, empty object.
class EndedInside {
 public:
  static constexpr std::uint32_t kMost = 128;  // 12 KiB, allocated at the first put()

  std::uint32_t round() const { return round_.load(std::memory_order_relaxed); }
  bool empty() const { return size_.load(std::memory_order_acquire) == 0; }

  // Keeps a span that began in this round. False if a new round began, or there is no room: then
  // the span stays the caller's.
  bool put(const CapturedSpan& span, std::uint32_t round);

  // The top was fast for these places: drops its spans for them. False if some are gone already,
  // since the top began in an earlier round.
  bool leave_out_inside(std::uint64_t top, Places fast, std::uint32_t round);

  // Hands out all there is, oldest first. Thread: the owner's, the flusher's.
  template <typename Visit>
  void take(Visit visit) {
    const Holding holding(*this);
    if (!holding || empty()) return;
    const std::uint32_t size = size_.load(std::memory_order_relaxed);
    round_.store(round() + 1, std::memory_order_relaxed);
    size_.store(0, std::memory_order_release);  // empty() then also shows the round
    for (std::uint32_t i = 0; i < size; ++i) visit((*spans_.find())[i]);
  }

 private:
  // Holds the flag, which orders all access by the two threads.
  class Holding {
   public:
    explicit Holding(EndedInside& what)
        : is_busy_(what.is_busy_), has_it_(!is_busy_.exchange(true, std::memory_order_acquire)) {}
    ~Holding() {
      if (has_it_) is_busy_.store(false, std::memory_order_release);
    }
    Holding(const Holding&) = delete;
    Holding& operator=(const Holding&) = delete;
    explicit operator bool() const { return has_it_; }

   private:
    std::atomic<bool>& is_busy_;
    const bool has_it_;
  };

  std::atomic<bool> is_busy_{false};  // the flag: acquired and released by Holding
  // Written by the flag's holder, also the next. A 0 is released after the round, and empty()
  // acquires it before the round.
  std::atomic<std::uint32_t> size_{0};
  std::atomic<std::uint32_t> round_{0};
  MadeWhenNeeded<std::array<CapturedSpan, kMost>> spans_;
};

}  // namespace pcp::trace::client
