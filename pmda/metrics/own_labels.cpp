// SPDX-License-Identifier: LGPL-2.1-or-later
#include "metrics/own_labels.hpp"

#include <string>

#include "base/escape.hpp"
#include "wire/dimensions.hpp"

namespace pcp::trace::agent {

namespace {

// In an answer: the text, a comma, and PCP's index.
std::size_t bytes_of(const LabelText& labels) {
  return 1 + labels.members().size() + labels.labels().size() * sizeof(LabelText::Label);
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

}  // namespace pcp::trace::agent
