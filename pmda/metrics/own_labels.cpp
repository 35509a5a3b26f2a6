// SPDX-License-Identifier: LGPL-2.1-or-later
#include "metrics/own_labels.hpp"

#include <string>

#include "collector/engine/printable.hpp"

namespace pcp::trace::agent {

LabelText labels_of_tag(std::string_view tag) {
  LabelText labels;
  labels.add("tag", tag, kMaxShownBytes);
  return labels;
}

LabelText labels_of_process(const ClientView& client) {
  LabelText labels;
  labels.add("pid", std::to_string(client.pid));
  if (client.uid != kUnknownUid) labels.add("userid", std::to_string(client.uid));
  if (client.gid != kUnknownUid) labels.add("groupid", std::to_string(client.gid));
  return labels;
}

}  // namespace pcp::trace::agent
