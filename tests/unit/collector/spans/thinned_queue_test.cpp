// SPDX-License-Identifier: LGPL-2.1-or-later
#include "collector/spans/thinned_queue.hpp"

#include <map>
#include <memory>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace pcp::trace::agent {
namespace {

using Value = std::shared_ptr<int>;
using Queue = ThinnedQueue<Value>;

std::vector<std::uint64_t> keys_from(const Queue& queue, std::uint64_t key) {
  std::vector<std::uint64_t> keys;
  queue.each_from(key, [&](const Queue::Entry& entry) {
    keys.push_back(entry.key);
    return true;
  });
  return keys;
}

TEST(ThinnedQueueTest, IsAsAMapWhateverIsTakenOutOfIt) {
  std::mt19937 random(7);
  Queue queue;
  std::map<std::uint64_t, Value> model;
  std::uint64_t last = 0;
  for (int step = 0; step < 20'000; ++step) {
    const bool is_growing = step / 2000 % 2 == 0;
    if (random() % 4 < (is_growing ? 3u : 1u)) {
      last += 1 + random() % 3;
      const auto value = std::make_shared<int>(step);
      queue.push(last, value);
      model.emplace(last, value);
    } else if (!model.empty() && random() % 2 == 0) {
      ASSERT_EQ(queue.front().key, model.begin()->first);
      ASSERT_EQ(queue.pop_front(), model.begin()->second);
      model.erase(model.begin());
    } else {
      const std::uint64_t key = random() % (last + 1);
      const auto found = model.find(key);
      ASSERT_EQ(queue.remove(key), found == model.end() ? nullptr : found->second);
      if (found != model.end()) model.erase(found);
    }
    ASSERT_EQ(queue.size(), model.size());
    ASSERT_EQ(queue.empty(), model.empty());
    if (step % 100 != 0) continue;
    const std::uint64_t from = random() % (last + 1);
    std::vector<std::uint64_t> expected;
    for (auto next = model.lower_bound(from); next != model.end(); ++next)
      expected.push_back(next->first);
    ASSERT_EQ(keys_from(queue, from), expected);
    ASSERT_GE(queue.count_from(from), expected.size());
    ASSERT_LE(queue.count_from(from), model.size());
  }
}

}  // namespace
}  // namespace pcp::trace::agent
