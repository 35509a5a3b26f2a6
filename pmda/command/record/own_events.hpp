// SPDX-License-Identifier: LGPL-2.1-or-later
// Requests the spans of a collector in this process.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "metrics/span_desk.hpp"

namespace pcp::trace::command {

class OwnEvents final : public agent::SpanDesk {
 public:
  // Limit of one fetch. Readers of archives handle a record of this size quickly.
  static constexpr std::size_t kMostBytes = 128 * 1024;

  // Without a monitor no spans are requested.
  explicit OwnEvents(std::unique_ptr<agent::Spans::Monitor> monitor)
      : monitor_(std::move(monitor)) {}

  bool are_wanted() const { return monitor_ != nullptr; }

  agent::SpanAsker asker(Instant) override { return {monitor_.get(), 0, kMostBytes}; }
  agent::SpanControls controls() const override { return {}; }

 private:
  std::unique_ptr<agent::Spans::Monitor> monitor_;
};

}  // namespace pcp::trace::command
