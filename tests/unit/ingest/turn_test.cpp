#include "ingest/turn.hpp"

#include <atomic>
#include <thread>

#include <gtest/gtest.h>

#include "unit/ingest/deadline.hpp"

namespace pcp::trace::agent {
namespace {

TEST(Turn, LocksWhenItIsUsedAndNotBefore) {
  Shared shared({}, {}, steady_now());
  Turn turn(shared);
  { const std::lock_guard lock(shared.mutex); }
  EXPECT_EQ(&turn.shared(), &shared);
  turn.end();
  { const std::lock_guard lock(shared.mutex); }
}

// With a mutex that favours whoever is running, the others would wait for some fifty slices each.
TEST(Turn, LetsOthersInHoweverLongTheWork) {
  Shared shared({}, {}, steady_now());
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> slices{0};
  std::thread worker([&] {
    Turn turn(shared);
    Time slice{};
    while (!stop) {
      turn.shared();
      if (turn.now() != slice) ++slices;
      slice = turn.now();
    }
  });
  constexpr std::uint64_t kFetches = 100;
  std::uint64_t waited = 0;
  for (std::uint64_t i = 0; i < kFetches; ++i) {
    const std::uint64_t before = slices;
    EXPECT_TRUE(eventually([&] { return slices > before; }));  // the worker has it
    const std::lock_guard lock(shared.mutex);
    waited += slices - before - 1;
  }
  stop = true;
  worker.join();
  EXPECT_LT(waited, 10 * kFetches);
}

}  // namespace
}  // namespace pcp::trace::agent
