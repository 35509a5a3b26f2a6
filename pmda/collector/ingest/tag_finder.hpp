// SPDX-License-Identifier: LGPL-2.1-or-later
// Maps tags of sessions to tags of the engine, and notes the origin and description of each new one
// there.
//
// Thread: the ingest thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "collector/engine/engine.hpp"
#include "collector/ingest/session.hpp"
#include "collector/ingest/split.hpp"
#include "collector/ingest_counters.hpp"

namespace pcp::trace::agent {

class TagFinder {
 public:
  // `unsplit` counts tags without room for the labels of --split.
  explicit TagFinder(IngestCounter& unsplit) : unsplit_(unsplit) {}

  // Sets `disagrees` if the session is the first with another description of this tag.
  TagIndex find(Engine& engine, const Session& session, SessionTag& tag, TraceType type,
                bool& disagrees) {
    if (const std::uint32_t life = engine.life(); tag.life != life) [[unlikely]] {
      tag.life = life;
      tag.in_engine = SessionTag::kAllUnknown;
    }
    TagIndex& index = tag.in_engine[index_of(type)];
    if (index == SessionTag::kUnknown) [[unlikely]]
      index = look_up(engine, session, tag, type, disagrees);
    return index;
  }

  // The tag with the labels of --split, valid until the next call.
  std::string_view split(const Split& added, std::string_view tag);

 private:
  TagIndex look_up(Engine& engine, const Session& session, SessionTag& tag, TraceType type,
                   bool& disagrees);

  IngestCounter& unsplit_;
  std::string split_tag_;  // kept, so that splitting allocates nothing
};

}  // namespace pcp::trace::agent
