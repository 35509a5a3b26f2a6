// SPDX-License-Identifier: LGPL-2.1-or-later
// A thread whose transactions are captured by filters that the test publishes: one for requests,
// with bit 3, and one for queries, with bit 5.
#pragma once

#include <string>

#include <gtest/gtest.h>

#include "spans/capture_set.hpp"
#include "thread/recorder.hpp"

namespace pcp::trace::client {

inline constexpr CaptureBits kRequest = 1 << 3;
inline constexpr CaptureBits kQuery = 1 << 5;

// A transaction, as the program has it.
struct Open {
  std::uint64_t id() const { return traced.context.own; }
  CaptureBits captures() const { return traced.context.capture_bits(); }
  OpenTransaction transaction() const { return {tag, traced.begun}; }

  const Tag* tag;
  Traced traced;
};

inline Open begin_on(Recorder& thread, const Tag* tag) { return {tag, thread.begin_traced(tag)}; }
inline Open begin_inside(Recorder& thread, const Open& parent, const Tag* tag) {
  return {tag, thread.begin_in(tag, {parent.traced.context.inside(), parent.traced.begun})};
}
inline void end_on(Recorder& thread, const Open& open, bool aborted = false) {
  thread.end_traced(open.transaction(), open.traced.context, aborted);
}
inline void detach_on(Recorder& thread, const Open& open) {
  thread.trace().detach(open.transaction());
}
// Begins and ends so many, one after the other.
inline void run_on(Recorder& thread, const Tag* tag, int times = 1) {
  for (int i = 0; i < times; ++i) end_on(thread, begin_on(thread, tag));
}

struct Capturing : testing::Test {
  ~Capturing() override {
    shared.captures().publish(nullptr);
    replace_state(state_before_);
  }

  // Tags of this test only: a tag remembers that its transactions do not nest.
  static const Tag* of_this_test(const char* name) {
    return intern_tag(name +
                      std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
  }
  static void add_filter(CaptureSet& set, const wire::Capture& capture,
                         CaptureSet::Epoch since = 0) {
    set.add(capture, *wire::parse_capture_filter(capture.filter), wire::kAnyRate, since);
  }
  const CaptureSet& captures() { return *shared.captures().published(); }

  Open begin(const Tag* tag) { return begin_on(recorder, tag); }
  Open begin_inside(const Open& parent, const Tag* tag) {
    return client::begin_inside(recorder, parent, tag);
  }
  void end(const Open& open, bool aborted = false) { end_on(recorder, open, aborted); }
  // Ends on its own: nothing of this thread begins inside of it.
  void detach(const Open& open) { detach_on(recorder, open); }
  void run(const Tag* tag, int times = 1) { run_on(recorder, tag, times); }
  void run_inside(const Open& parent, const Tag* tag) { end(begin_inside(parent, tag)); }

  SharedParts shared;
  Doorbell doorbell;
  Recorder recorder{shared, doorbell, 16};
  const Tag* const request = of_this_test("request ");
  const Tag* const query = of_this_test("query ");
  const Tag* const part = of_this_test("part ");

 private:
  const int state_before_ = replace_state(PMTRACE_STATE_NONE);
};

}  // namespace pcp::trace::client
