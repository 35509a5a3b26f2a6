// SPDX-License-Identifier: LGPL-2.1-or-later
// Knows of each instance when any of its values has changed last: one that goes on as it was need
// not be written again.
//
// Thread: one.
#pragma once

#include <pcp/pmapi.h>

#include <cstdint>
#include <unordered_map>

#include "command/archive/sample.hpp"

namespace pcp::trace::command {

// A domain's instances.
class InstanceChanges {
 public:
  // Samples are counted from 1 on.
  using Number = std::uint64_t;

  void note(int instance, pmID metric, std::uint64_t value);
  void end_sample(Number sample);

  // Some were not in the sample before.
  bool has_newcomers() const { return has_newcomers_; }

  // The last sample that showed it to be otherwise than the one before. Requires: it is in the last
  // one.
  Number last_change(int instance) const { return instances_.at(instance).changed; }

 private:
  struct Instance {
    std::uint64_t before = 0;  // digests of its values
    std::uint64_t now = 0;
    Number changed = 0;
    bool is_there = false;
  };
  std::unordered_map<int, Instance> instances_;
  bool has_newcomers_ = false;
};

// The bytes of a value as a number; of a text a digest.
std::uint64_t value_as_number(int format, const pmValue& value);

}  // namespace pcp::trace::command
