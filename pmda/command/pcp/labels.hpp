// SPDX-License-Identifier: LGPL-2.1-or-later
// Labels from libpcp.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "metrics/pmapi.hpp"

namespace pcp::trace::command {

// Owns label sets, which PCP must free.
class OwnedLabels {
 public:
  OwnedLabels() = default;
  OwnedLabels(pmLabelSet* sets, int count) : sets_(sets), count_(count > 0 ? count : 0) {}
  OwnedLabels(OwnedLabels&& other) noexcept
      : sets_(std::exchange(other.sets_, nullptr)), count_(std::exchange(other.count_, 0)) {}
  OwnedLabels& operator=(OwnedLabels&&) = delete;
  ~OwnedLabels() {
    if (sets_ != nullptr) pmFreeLabelSets(sets_, count_);
  }

  std::span<const pmLabelSet> all() const { return {sets_, static_cast<std::size_t>(count_)}; }

 private:
  pmLabelSet* sets_ = nullptr;
  int count_ = 0;
};

// The value of one label, without its quotes; empty if there is none.
std::string label_of(const pmLabelSet& set, std::string_view name);

}  // namespace pcp::trace::command
