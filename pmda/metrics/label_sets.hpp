// SPDX-License-Identifier: LGPL-2.1-or-later
// The labels of instances: those that the agent itself gives (programs' own are in their Origin),
// and the form that libpcp_pmda wants.
#pragma once

#include <cstddef>
#include <string_view>

#include "collector/engine/label_text.hpp"
#include "collector/ingest_counters.hpp"
#include "metrics/pmapi.hpp"

namespace pcp::trace::agent {

// The tag's name, and the labels in the tag.
LabelText labels_of_tag(std::string_view tag);

// The same, with labels and description only if shown.
LabelText labels_of_tag(const InstanceName& tag, bool shows_labels, bool shows_description);

// Approximate bytes of the labels in the tag, and of its description.
std::size_t bytes_of_labels(const InstanceName& tag);
std::size_t bytes_of_description(const InstanceName& tag);
std::size_t bytes_of_labels(const Origin& origin);

// The identity of a process, from the kernel if possible.
LabelText labels_of_process(const ClientView& client);

// An array of sets, one per instance. They are built here, because PCP's functions would parse
// them, which takes ten times as long, and would log programs' texts.
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
