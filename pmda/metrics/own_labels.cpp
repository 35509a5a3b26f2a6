// SPDX-License-Identifier: LGPL-2.1-or-later
#include "metrics/own_labels.hpp"

#include <string>

#include "collector/engine/printable.hpp"
#include "wire/dimensions.hpp"

namespace pcp::trace::agent {

LabelText labels_of_tag(std::string_view tag) {
  LabelText labels;
  const auto parsed = parse_dimensions(tag);
  labels.add("tag", parsed ? parsed->name : tag, kMaxShownBytes);
  if (!parsed) return labels;
  for (const auto& [key, value] : parsed->labels) labels.add(key, value, kMaxShownBytes);
  return labels;
}

LabelText labels_of_tag(const InstanceName& tag, bool all) {
  if (!all) return labels_of_tag(bare_name(tag.tag));
  LabelText labels = labels_of_tag(tag.tag);
  if (tag.description) labels.add(*tag.description);
  return labels;
}

std::size_t bytes_of_labels(const InstanceName& tag) {
  // Quotes, colons and PCP's index to it are about as much as the text.
  const std::size_t of_the_tag = 2 * (tag.tag.size() - bare_name(tag.tag).size());
  constexpr std::size_t kIndex = 2 * sizeof(LabelText::Label);
  return of_the_tag + (tag.description ? tag.description->members().size() + kIndex : 0);
}

LabelText labels_of_process(const ClientView& client) {
  LabelText labels;
  labels.add("pid", std::to_string(client.pid));
  if (client.uid != kUnknownUid) labels.add("userid", std::to_string(client.uid));
  if (client.gid != kUnknownUid) labels.add("groupid", std::to_string(client.gid));
  return labels;
}

}  // namespace pcp::trace::agent
