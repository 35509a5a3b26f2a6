// SPDX-License-Identifier: LGPL-2.1-or-later
// Labels as libpcp_pmda hands them over: an array of sets, one for each instance that has any. They
// are put together here and not parsed by PCP's functions, which takes ten times as long, and would
// log what a program has sent.
#pragma once

#include <pcp/pmapi.h>

#include <cstddef>

#include "collector/engine/label_text.hpp"

namespace pcp::trace::agent {

class LabelSets {
 public:
  explicit LabelSets(std::size_t capacity);
  ~LabelSets();
  LabelSets(const LabelSets&) = delete;
  LabelSets& operator=(const LabelSets&) = delete;

  // Adds an instance with labels of its own, and perhaps some that it has in common with others.
  // Requires: `own` is not empty, no name is in both, not called more often than `capacity`.
  void add(unsigned instance, const LabelText& own, const LabelText& common = {});

  // Hands the array over and gives the number of its sets.
  int release(pmLabelSet** sets);

 private:
  pmLabelSet* sets_;
  int count_ = 0;
};

}  // namespace pcp::trace::agent
