// SPDX-License-Identifier: LGPL-2.1-or-later
#include "thread/recorder.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace pcp::trace::client {

bool SharedParts::reserve_room(std::uint64_t records, std::uint64_t of_all) {
  std::uint64_t taken = room_taken_.load(std::memory_order_relaxed);
  do {
    if (taken + records > of_all) return false;
  } while (!room_taken_.compare_exchange_weak(taken, taken + records, std::memory_order_relaxed));
  return true;
}

bool Recorder::widen_room() {
  const std::uint32_t more = std::min(room_, capacity_ - room_);
  if (more == 0 || !shared_->reserve_room(more, std::uint64_t{kWideThreads} * capacity_))
    return false;
  room_ += more;
  return true;
}

// Grows the room, or asks the flusher to drain, and sets next_check_: first at half of the room, to
// wake the flusher in time, then at all of it.
void Recorder::check_room() {
  const std::uint64_t taken = dequeued_.load(std::memory_order_acquire);
  const std::uint64_t used = queued_.load(std::memory_order_relaxed) - taken;
  const auto half = [this] { return std::max<std::uint64_t>(room_ / 2, 1); };
  while (used >= half() && widen_room()) {
  }
  if (used < half()) {
    next_check_ = taken + half();
    return;
  }
  if (asked_at_ != taken) {
    asked_at_ = taken;
    doorbell_->ring();
  }
  next_check_ = taken + room_;
}

int Recorder::record_slowly(const Tag* tag, double value, RecordKind kind) {
  if (!overflow_.is_in_use()) {
    check_room();
    if (enqueue(tag, value, kind)) return 0;
  }
  next_check_ = 0;  // until the cells are taken
  // Counted first, so that acknowledged never exceeds recorded.
  const std::uint64_t merged = merged_.load(std::memory_order_relaxed);
  merged_.store(merged + 1, std::memory_order_release);
  if (!overflow_.add({tag, value, kind}, queued_.load(std::memory_order_relaxed))) {
    merged_.store(merged, std::memory_order_relaxed);
    return -ENOMEM;
  }
  doorbell_->ring_if_asleep();
  return 0;
}

void Recorder::note_thread() {
  owned_since_.store(present_moment(), std::memory_order_relaxed);
  const auto number = static_cast<std::uint32_t>(::syscall(SYS_gettid));
  thread_.store(number, std::memory_order_relaxed);
  const pid_t main = pcp_trace_main_thread != 0 ? pcp_trace_main_thread : ::getpid();
  trace_.change_thread(number == static_cast<std::uint32_t>(main));
}

std::uint32_t Recorder::thread_of(Moment begun) const {
  const Moment now = present_moment();
  const Moment since = owned_since_.load(std::memory_order_relaxed);
  return seconds_since(begun, now) <= seconds_since(since, now)
             ? thread_.load(std::memory_order_relaxed)
             : 0;
}

void Recorder::give_up() {
  thread_.store(0, std::memory_order_relaxed);
  if (open_.has_open())
    doorbell_->ring_if_asleep();  // so that the flusher reports no thread for them
  tags_.forget_slots();
  transactions_.orphan();
  owned_.store(false, std::memory_order_release);
}

}  // namespace pcp::trace::client
