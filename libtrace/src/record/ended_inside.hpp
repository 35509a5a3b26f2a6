// SPDX-License-Identifier: LGPL-2.1-or-later
// What has ended on one thread in trees of which only slow ones are wanted, while what it is a part
// of is still open there. As a rule that turns out to be fast, and all of it is left out again
// without anybody having heard of it: so a program whose requests are all fast, and stay on their
// threads, has nothing to tell the flusher.
//
// Whoever needs the room, or another order, takes all of it away: the owner, into the queue, or the
// flusher. Then another round begins, by which what is still open knows that parts of it are gone.
//
// Thread: the owner's, but for take(). Neither waits for the other: who comes second does without.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <utility>

#include "record/made_when_needed.hpp"
#include "record/span_queue.hpp"

namespace pcp::trace::client {

// In memory of zeros it is as it should be: empty.
class EndedInside {
 public:
  static constexpr std::uint32_t kMost = 128;  // 12 KiB, made with the first

  std::uint32_t round() const { return round_.load(std::memory_order_relaxed); }
  bool empty() const { return size_.load(std::memory_order_acquire) == 0; }

  // Keeps one that began in this round. False if another has begun, or there is no room: then it is
  // the caller's.
  bool put(const CapturedSpan& span, std::uint32_t round);

  // For these places a top has turned out to be fast, and so has what is inside of it. False if
  // parts of it are gone, since it began in another round.
  bool leave_out_inside(std::uint64_t top, Places fast, std::uint32_t round);

  // Hands out all there is, oldest first. Thread: the owner's, the flusher's.
  template <typename Visit>
  void take(Visit visit) {
    const Holding holding(*this);
    if (!holding || empty()) return;
    const std::uint32_t size = size_.load(std::memory_order_relaxed);
    round_.store(round() + 1, std::memory_order_relaxed);
    size_.store(0, std::memory_order_release);  // who sees that it is empty sees the round, too
    for (std::uint32_t i = 0; i < size; ++i) visit((*spans_.find())[i]);
  }

 private:
  // Whoever touches it has the flag, which orders what the two do.
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

  std::atomic<bool> is_busy_{false};
  std::atomic<std::uint32_t> size_{0};  // written by who has the flag, as is the next
  std::atomic<std::uint32_t> round_{0};
  MadeWhenNeeded<std::array<CapturedSpan, kMost>> spans_;
};

}  // namespace pcp::trace::client
