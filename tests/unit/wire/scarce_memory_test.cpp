// SPDX-License-Identifier: LGPL-2.1-or-later
// Encoders without memory throw std::bad_alloc, and do not end the process.
#include "support/scarce_memory.hpp"

#include <functional>
#include <new>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "wire/batch.hpp"
#include "wire/events.hpp"

namespace pcp::trace::wire {
namespace {

// Lets the string grow until it cannot, at each of many sizes, and so in each part of a message.
void grow_without_memory(const std::function<void(std::string& out)>& append) {
  for (std::size_t most = 16; most < 2048; ++most) {
    std::string out(most % 64, 'x');
    bool has_thrown = false;
    try {
      const ScarceMemory scarce(most);
      while (out.size() < 4096) append(out);
    } catch (const std::bad_alloc&) {
      has_thrown = true;
    }
    EXPECT_TRUE(has_thrown) << most;
  }
}

TEST(ScarceMemory, IsNoEndOfTheProcess) {
  const std::vector<TagDefinition> tags(20, {7, "a tag that is quite long", "ms", "what it is"});
  grow_without_memory([&](std::string& out) { append_tags(out, 1, tags); });
  Delta delta;
  Histogram histogram;
  for (int i = 1; i < 100; ++i) {
    delta.add(i);
    histogram.add(i);
  }
  grow_without_memory([&](std::string& out) {
    append_delta(out, 7, TraceType::Observe, delta, histogram);
    append_increments(out, 8, delta);
    append_open_count(out, {.tag_id = 9, .open = 3, .oldest_ns = 5});
  });
  Hello hello;
  hello.process = hello.service = "a program";
  hello.labels.assign(10, {"zone", "eu"});
  grow_without_memory([&](std::string& out) { append_hello(out, 1, hello); });
  Span span;
  const std::vector<SpanAttribute> attributes(5, {.key = "sql", .text = "select", .number = {}});
  const std::vector<SpanLink> links(2, {.trace = {1, 2}, .span = 3});
  span.attributes = attributes;
  span.links = links;
  grow_without_memory([&](std::string& out) { append_span(out, span); });
}

}  // namespace
}  // namespace pcp::trace::wire
