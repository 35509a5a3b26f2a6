// SPDX-License-Identifier: LGPL-2.1-or-later
// A recorder of one thread with little room, and a tag.
#pragma once

#include <gtest/gtest.h>

#include "thread/recorder.hpp"

namespace pcp::trace::client {

struct OneRecorder : testing::Test {
  static constexpr std::uint32_t kCapacity = 16;
  SharedParts shared;
  Doorbell doorbell;
  Recorder recorder{shared, doorbell, kCapacity};
  const Tag* tag = intern_tag("recorded");

  OneRecorder() { doorbell.renew(); }

  void record(double value) { ASSERT_EQ(recorder.record(tag, value, RecordKind::Observe), 0); }
};

}  // namespace pcp::trace::client
