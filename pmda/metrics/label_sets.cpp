// SPDX-License-Identifier: LGPL-2.1-or-later
#include "metrics/label_sets.hpp"

#include <cassert>
#include <string>
#include <utility>

#include "base/escape.hpp"
#include "wire/dimensions.hpp"

namespace pcp::trace::agent {

namespace {

// In an answer: the text, a comma, and PCP's index.
std::size_t bytes_of(const LabelText& labels) {
  return 1 + labels.members().size() + labels.labels().size() * sizeof(LabelText::Label);
}

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

LabelText labels_of_tag(std::string_view tag) {
  LabelText labels;
  const auto parsed = parse_dimensions(tag);
  labels.add("tag", parsed ? parsed->name : tag, kMaxShownBytes);
  if (!parsed) return labels;
  for (const auto& [key, value] : parsed->labels) labels.add(key, value, kMaxShownBytes);
  return labels;
}

LabelText labels_of_tag(const InstanceName& tag, bool shows_labels, bool shows_description) {
  LabelText labels = labels_of_tag(shows_labels ? tag.tag : bare_name(tag.tag));
  if (shows_description && tag.description) labels.add(*tag.description);
  return labels;
}

// Quotes, colons and PCP's index need about as much again as the text.
std::size_t bytes_of_labels(const InstanceName& tag) {
  return 2 * (tag.tag.size() - bare_name(tag.tag).size());
}

std::size_t bytes_of_description(const InstanceName& tag) {
  return tag.description ? bytes_of(*tag.description) : 0;
}

std::size_t bytes_of_labels(const Origin& origin) { return bytes_of(origin.labels); }

LabelText labels_of_process(const ClientView& client) {
  LabelText labels;
  labels.add("pid", std::to_string(client.pid));
  if (client.uid != kUnknownUid) labels.add("userid", std::to_string(client.uid));
  if (client.gid != kUnknownUid) labels.add("groupid", std::to_string(client.gid));
  return labels;
}

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
