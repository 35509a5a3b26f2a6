// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads all tags of a type from a collector, in as many slices as necessary.
#pragma once

#include <vector>

#include "base/clock.hpp"
#include "collector/reader.hpp"

namespace pcp::trace::agent {

struct KnownTag {
  InstanceName name;
  TagValues values;
};

inline std::vector<KnownTag> all_tags(const Reader& reader, TraceType type,
                                      Instant now = steady_now()) {
  std::vector<KnownTag> tags;
  reader.tag_values(type, reader.instance_count(type), now, [&](std::vector<TagValues>& slice) {
    for (const TagValues& values : slice) tags.push_back({{}, values});
  });
  std::size_t next = 0;  // tags that came meanwhile have only a name
  reader.instances(type, 0, [&](InstanceName&& name) {
    if (next < tags.size()) tags[next++].name = std::move(name);
  });
  return tags;
}

}  // namespace pcp::trace::agent
