// SPDX-License-Identifier: LGPL-2.1-or-later
#include "metrics/label_sets.hpp"

#include <cassert>
#include <string_view>
#include <utility>

namespace pcp::trace::agent {

namespace {

// Merges two sorted texts' labels. a_begin and b_begin are their offsets in the whole JSON text.
void merge_labels(const LabelText& a, std::size_t a_begin, const LabelText& b, std::size_t b_begin,
                  pmLabel* out) {
  const auto add = [&out](const LabelText::Label& label, std::size_t begin) {
    out->name = (begin + label.name) & 0xffff;
    out->namelen = label.name_length & 0xff;
    out->value = (begin + label.value) & 0xffff;
    out->valuelen = label.value_length;
    ++out;
  };
  auto next_a = a.labels().begin();
  for (const LabelText::Label& label : b.labels()) {
    for (; next_a != a.labels().end() && a.name_of(*next_a) < b.name_of(label); ++next_a)
      add(*next_a, a_begin);
    add(label, b_begin);
  }
  for (; next_a != a.labels().end(); ++next_a) add(*next_a, a_begin);
}

}  // namespace

LabelSets::LabelSets(std::size_t capacity) : sets_(pmapi::allocate<pmLabelSet>(capacity)) {}

LabelSets::~LabelSets() {
  if (sets_) pmFreeLabelSets(sets_, count_);
}

void LabelSets::add(unsigned instance, const LabelText& own, const LabelText& common) {
  assert(!own.members().empty());
  const std::string_view comma = common.members().empty() ? "" : ",";
  const std::size_t common_begin = 1 + own.members().size() + comma.size();
  const std::size_t length = common_begin + common.members().size() + 1;
  const std::size_t labels = own.labels().size() + common.labels().size();

  pmLabelSet& set = sets_[count_++];
  set.inst = instance;
  set.json = pmapi::allocate<char>(length + 1);
  char* end = set.json;
  for (const std::string_view part : {std::string_view("{"), std::string_view(own.members()), comma,
                                      std::string_view(common.members()), std::string_view("}")})
    end += part.copy(end, part.size());
  set.jsonlen = length & 0xffff;
  set.labels = pmapi::allocate<pmLabel>(labels);
  set.nlabels = static_cast<int>(labels);
  merge_labels(own, 1, common, common_begin, set.labels);
}

int LabelSets::release(pmLabelSet** sets) {
  *sets = std::exchange(sets_, nullptr);
  return count_;
}

}  // namespace pcp::trace::agent
