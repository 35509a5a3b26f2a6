// SPDX-License-Identifier: LGPL-2.1-or-later
// Labels in libpcp_pmda's form: an array of sets, one per instance. They are built here, because
// PCP's functions would parse them, which takes ten times as long, and would log programs' texts.
#pragma once

#include <cstddef>

#include "collector/engine/label_text.hpp"
#include "metrics/pmapi.hpp"

namespace pcp::trace::agent {

class LabelSets {
 public:
  explicit LabelSets(std::size_t capacity);
  ~LabelSets();
  LabelSets(const LabelSets&) = delete;
  LabelSets& operator=(const LabelSets&) = delete;

  // Adds an instance with its own labels, and perhaps common ones. Requires: `own` is not empty, no
  // name is in both, at most `capacity` calls.
  void add(unsigned instance, const LabelText& own, const LabelText& common = {});

  // Hands the array over and returns the number of its sets.
  int release(pmLabelSet** sets);

 private:
  pmLabelSet* sets_;
  int count_ = 0;
};

}  // namespace pcp::trace::agent
