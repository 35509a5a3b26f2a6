// Labels as libpcp_pmda hands them over: an array of sets, one for each instance that has any.
#pragma once

#include <pcp/pmapi.h>

#include <cstddef>
#include <string>

namespace pcp::trace::agent {

class LabelSets {
 public:
  explicit LabelSets(std::size_t capacity);
  ~LabelSets();
  LabelSets(const LabelSets&) = delete;
  LabelSets& operator=(const LabelSets&) = delete;

  // Requires: `json` is an object; not called more often than `capacity`.
  void add(unsigned instance, const std::string& json);

  // Hands the array over and gives the number of its sets.
  int release(pmLabelSet** sets);

 private:
  pmLabelSet* sets_;
  int count_ = 0;
};

}  // namespace pcp::trace::agent
