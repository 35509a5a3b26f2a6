#include "recorder.hpp"

#include <algorithm>
#include <cerrno>

namespace pcp::trace::client {

// Sets next_look_: half of the room first, so that the flusher is woken in time, then the other
// half.
void Recorder::look_at_room() {
  const std::uint64_t drained = drained_.load(std::memory_order_acquire);
  const std::uint64_t used = queued_.load(std::memory_order_relaxed) - drained;
  const std::uint64_t half = std::max<std::uint64_t>(capacity_ / 2, 1);
  if (used < half) {
    next_look_ = drained + half;
    return;
  }
  if (asked_at_ != drained) {
    asked_at_ = drained;
    doorbell_->ring();
  }
  next_look_ = drained + capacity_;
}

int Recorder::record_slowly(const Tag* tag, double value, RecordKind kind) {
  if (!overflow_.in_use()) {
    look_at_room();
    if (enqueue(tag, value, kind)) return 0;
  }
  next_look_ = 0;  // until the cells were taken
  // Counted first, so that nobody ever sees more acknowledged than recorded.
  const std::uint64_t merged = merged_.load(std::memory_order_relaxed);
  merged_.store(merged + 1, std::memory_order_release);
  if (!overflow_.add({tag, value, kind}, queued_.load(std::memory_order_relaxed))) {
    merged_.store(merged, std::memory_order_relaxed);
    return -ENOMEM;
  }
  doorbell_->ring_if_asleep();
  return 0;
}

void Recorder::give_up() {
  transactions_.orphan();
  owned_.store(false, std::memory_order_release);
}

}  // namespace pcp::trace::client
