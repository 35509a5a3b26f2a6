// SPDX-License-Identifier: LGPL-2.1-or-later
#include "collector/ingest/rotation.hpp"

#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <new>
#include <utility>

#include "collector/ingest/turn.hpp"

namespace pcp::trace::agent {

namespace {

// Tags per step, after which the main thread may lock; steps per round of the loop.
constexpr std::size_t kTagsAtOnce = 16;
constexpr int kSteps = 16;

// Resets also make work, but do not wake this thread.
constexpr Duration kLongestSleep = std::chrono::seconds(1);

}  // namespace

// Returns the time of the next step.
Instant Rotation::rotate() {
  Engine::Discarded discarded;  // freed after the turn
  Turn turn(shared_);
  discarded = turn.engine().take_discarded();
  freeing_ = freeing_ || discarded != nullptr;
  for (int step = 0; step < kSteps; ++step) {
    Engine& engine = turn.engine();
    const Instant now = turn.now();
    if (!engine.rotate(now, kTagsAtOnce)) {
      const Instant next = std::min(engine.next_rotation(now), now + kLongestSleep);
      turn.end();
      if (discarded != nullptr) return now;                  // there may be more
      if (std::exchange(freeing_, false)) ::malloc_trim(0);  // otherwise libc would keep most of it
      return next;
    }
  }
  return turn.now();
}

void Rotation::step() {
  Instant next = steady_now() + kLongestSleep;
  try {
    next = rotate();
  } catch (const std::bad_alloc&) {
    // There may be memory later.
  }
  // Even with more to do, the loop runs first: readable peers come before the next step.
  timer_.expires_at(next);
  timer_.async_wait([this](const asio::error_code& error) {
    if (!error) step();
  });
}

}  // namespace pcp::trace::agent
