// SPDX-License-Identifier: LGPL-2.1-or-later
#include "spans/tracestates.hpp"

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace pcp::trace::client {
namespace {

constexpr std::uint64_t kTrace = 7;

std::string of(std::size_t count, char c) { return std::string(count, c); }

std::string passed_on(const std::string& header) {
  Tracestates::Text text;
  const std::size_t length = pass_on_tracestate(header, text);
  return {text.data(), length};
}

std::string kept(const Tracestates& states, Tracestates::Reference reference) {
  Tracestates::Text text;
  const std::size_t length = states.copy(reference, kTrace, text);
  EXPECT_EQ(text[length], '\0');
  return text.data();
}

TEST(Tracestate, IsPassedOn) {
  for (const std::string& header :
       {std::string("a=1"), std::string("congo=t61rcWkgMzE,rojo=00f067aa0ba902b7"),
        std::string("t-1_*/@x=a b!~"), "k=" + of(256, 'v'), of(256, 'k') + "=v"})
    EXPECT_EQ(passed_on(header), header);
  EXPECT_EQ(passed_on(" a=1 ,\t, b=2,,"), "a=1,b=2");  // blanks and empty members are dropped
}

TEST(Tracestate, IsDroppedAsAWholeIfAnyMemberIsNotValid) {
  std::string many = "k0=v";
  for (int i = 1; i < 33; ++i) many += ",k" + std::to_string(i) + "=v";
  for (const std::string& header :
       {std::string("a"), std::string("=1"), std::string("a="), std::string("A=1"),
        std::string("a=1,b"), std::string("a=1=2"), std::string("a b=1"), std::string("-a=1"),
        std::string("a=\x7f"), "k=" + of(257, 'v'), of(257, 'k') + "=v", many})
    EXPECT_EQ(passed_on(header), "") << header;
}

TEST(Tracestate, OfGreatLengthLosesItsLongestMembersThenItsLast) {
  const std::string one = "a=" + of(100, 'v');
  const std::string large = "b=" + of(200, 'v');
  EXPECT_EQ(passed_on(large + "," + large + "," + one), large + "," + large + "," + one);
  EXPECT_EQ(passed_on(large + "," + one + "," + large + "," + large), one);
  EXPECT_EQ(passed_on(one + "," + one + "," + one + "," + one + "," + one + "," + one),
            one + "," + one + "," + one + "," + one);
}

TEST(Tracestates, AreKeptUntilThereAreTooMany) {
  Tracestates states;
  EXPECT_EQ(kept(states, Tracestates::kNone), "");
  EXPECT_EQ(kept(states, 1), "");
  EXPECT_EQ(states.keep("", kTrace), Tracestates::kNone);
  EXPECT_EQ(states.keep("not valid", kTrace), Tracestates::kNone);
  const Tracestates::Reference first = states.keep("a=first", kTrace);
  const std::string longest = "a=" + of(254, 'v') + ",b=" + of(253, 'v');
  ASSERT_EQ(longest.size(), Tracestates::kMostBytes);
  const Tracestates::Reference second = states.keep(longest, kTrace);
  EXPECT_EQ(kept(states, first), "a=first");
  EXPECT_EQ(kept(states, second), longest);
  Tracestates::Text text;
  EXPECT_EQ(states.copy(first, kTrace + 1, text), 0U);  // it was reused for another trace
  for (std::size_t i = 2; i < Tracestates::kMostTexts; ++i) states.keep("a=other", kTrace);
  EXPECT_EQ(kept(states, first), "a=first");
  states.keep("a=last", kTrace);
  EXPECT_EQ(kept(states, first), "");
  EXPECT_EQ(kept(states, second), longest);
}

// A reader gets a whole text or nothing.
TEST(Tracestates, AreNeverReadWhileTheyAreWritten) {
  Tracestates states;
  std::atomic<Tracestates::Reference> latest{states.keep("a=" + of(200, '0'), kTrace)};
  std::atomic<bool> is_over{false};
  std::vector<std::thread> writers;
  for (int writer = 0; writer < 2; ++writer)
    writers.emplace_back([&] {
      for (int i = 0; i < 20'000; ++i)
        latest = states.keep(
            "a=" + of(100 + static_cast<std::size_t>(i % 100), static_cast<char>('0' + i % 10)),
            kTrace);
      is_over = true;
    });
  std::uint64_t read = 0;
  while (!is_over || read == 0) {
    // Also reads one that is about to be overwritten.
    const Tracestates::Reference now = latest;
    for (const auto reference : {now, now > 4090 ? now - 4090 : now}) {
      const std::string text = kept(states, reference);
      if (text.empty()) continue;
      ++read;
      ASSERT_GE(text.size(), 102U);
      ASSERT_EQ(text.find_first_not_of(text[2], 2), std::string::npos) << text;
    }
  }
  for (std::thread& writer : writers) writer.join();
}

}  // namespace
}  // namespace pcp::trace::client
