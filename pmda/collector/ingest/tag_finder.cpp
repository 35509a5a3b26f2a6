// SPDX-License-Identifier: LGPL-2.1-or-later
#include "collector/ingest/tag_finder.hpp"

namespace pcp::trace::agent {

TagIndex TagFinder::look_up(Engine& engine, const Session& session, SessionTag& tag, TraceType type,
                            bool& disagrees) {
  const TagIndex index = tag.is_folded ? engine.folded_tag(type, tag.name)
                                       : engine.tag(type, split(session.split, tag.name));
  engine.note_origin(index, session.origin);
  disagrees = tag.description != nullptr && !engine.describe(index, tag.description);
  return index;
}

std::string_view TagFinder::split(const Split& added, std::string_view tag) {
  if (added.empty() || tag == kOverflowName) return tag;
  if (!added.write(tag, split_tag_)) tally(unsplit_);
  return split_tag_;
}

}  // namespace pcp::trace::agent
