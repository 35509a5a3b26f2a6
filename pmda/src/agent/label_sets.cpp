#include "agent/label_sets.hpp"

#include <pcp/pmda.h>

#include <utility>

#include "agent/pcp_memory.hpp"

namespace pcp::trace::agent {

LabelSets::LabelSets(std::size_t capacity) : sets_(allocate_for_pcp<pmLabelSet>(capacity)) {}

LabelSets::~LabelSets() {
  if (sets_) pmFreeLabelSets(sets_, count_);
}

void LabelSets::add(unsigned instance, const std::string& json) {
  pmLabelSet* set = nullptr;
  if (pmdaAddLabels(&set, "%s", json.c_str()) < 0) return;
  set->inst = instance;
  sets_[count_++] = *set;
  std::free(set);  // what it points to is the array's now
}

int LabelSets::release(pmLabelSet** sets) {
  *sets = std::exchange(sets_, nullptr);
  return count_;
}

}  // namespace pcp::trace::agent
