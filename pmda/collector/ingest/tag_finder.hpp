// SPDX-License-Identifier: LGPL-2.1-or-later
// Finds what the engine calls the tags of sessions, and tells it whose they are and what they stand
// for when it hears of one.
//
// Thread: the ingest thread's.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "collector/engine/engine.hpp"
#include "collector/ingest/session.hpp"
#include "collector/ingest/split.hpp"
#include "collector/types.hpp"

namespace pcp::trace::agent {

class TagFinder {
 public:
  // `unsplit` counts the tags that do not get what --split asks for.
  explicit TagFinder(IngestCounters::Counter& unsplit) : unsplit_(unsplit) {}

  // Sets `disagrees` if the session is the first one to say something else of this tag than others.
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

  // Gives the tag with what --split adds to it, valid until the next call.
  std::string_view split(const Split& added, std::string_view tag);

 private:
  TagIndex look_up(Engine& engine, const Session& session, SessionTag& tag, TraceType type,
                   bool& disagrees);

  IngestCounters::Counter& unsplit_;
  std::string split_tag_;  // kept, so that splitting allocates nothing
};

}  // namespace pcp::trace::agent
