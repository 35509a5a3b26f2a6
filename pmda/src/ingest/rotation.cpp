#include "ingest/rotation.hpp"

#include <algorithm>
#include <chrono>

#include "ingest/turn.hpp"

namespace pcp::trace::agent {

namespace {

constexpr std::size_t kTagsAtOnce = 256;

// A reset makes work, too, and nobody tells.
constexpr Time kLongestSleep = std::chrono::seconds(1);

}  // namespace

void Rotation::step() {
  Time next;
  {
    Turn turn(shared_);
    Engine& engine = turn.shared().engine;
    const Time now = turn.now();
    const bool more = engine.rotate(now, kTagsAtOnce);
    next = more ? now : std::min(engine.next_rotation(now), now + kLongestSleep);
  }
  // Also with more to do it is the loop's turn: peers that have become readable come first.
  timer_.expires_at(std::chrono::steady_clock::time_point(next));
  timer_.async_wait([this](const asio::error_code& error) {
    if (!error) step();
  });
}

}  // namespace pcp::trace::agent
