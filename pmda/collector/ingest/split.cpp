// SPDX-License-Identifier: LGPL-2.1-or-later
#include "collector/ingest/split.hpp"

#include <algorithm>

#include "wire/dimensions.hpp"

namespace pcp::trace::agent {

void Split::begin(const std::vector<std::string>& keys, std::uint32_t pid,
                  const wire::Hello& hello) {
  labels_.clear();
  for (const std::string& key : keys) {
    if (key == "pid") {
      if (pid != 0) labels_.emplace_back(key, std::to_string(pid));
    } else if (key == "service") {
      if (!hello.service.empty()) labels_.emplace_back(key, hello.service);
    } else {
      const auto found = std::find_if(hello.labels.begin(), hello.labels.end(),
                                      [&key](const auto& label) { return label.first == key; });
      if (found != hello.labels.end()) labels_.push_back(*found);
    }
  }
}

bool Split::write(std::string_view tag, std::string& out) const {
  const std::vector<DimensionView> more(labels_.begin(), labels_.end());
  out.clear();
  if (add_dimensions(out, tag, more)) return true;
  out = tag;
  return false;
}

}  // namespace pcp::trace::agent
