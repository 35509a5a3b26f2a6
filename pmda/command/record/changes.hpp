// SPDX-License-Identifier: LGPL-2.1-or-later
// Tracks when any value of an instance changed last, so that unchanged instances need not be
// written.
//
// Thread: one.
// Thread: one.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "command/archive/sample.hpp"
#include "metrics/pmapi.hpp"

namespace pcp::trace::command {

// A domain's instances.
class InstanceChanges {
 public:
  // Samples are numbered from 1.
  using Number = std::uint64_t;

  void note(int instance, pmID metric, std::uint64_t value);
  void end_sample(Number sample);

  // True if the last sample has instances that the previous one lacked.
  bool has_newcomers() const { return has_newcomers_; }

  // The last sample in which the instance changed. Requires: the last sample has the instance.
  Number last_change(int instance) const { return instances_.at(instance).changed; }

 private:
  struct Instance {
    std::uint64_t before = 0;  // digests of all values
    std::uint64_t now = 0;
    Number changed = 0;
    bool is_there = false;
  };
  std::unordered_map<int, Instance> instances_;
  bool has_newcomers_ = false;
};

// The bytes of a value as a number; for a longer one a digest.
std::uint64_t value_as_number(int format, const pmValue& value);

}  // namespace pcp::trace::command
