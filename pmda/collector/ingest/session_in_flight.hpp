// SPDX-License-Identifier: LGPL-2.1-or-later
// A session's last report of its transactions in flight, kept by InFlight.
#pragma once

#include <cstdint>
#include <list>
#include <map>

#include "collector/engine/types.hpp"

namespace pcp::trace::agent {

struct Session;

struct SessionInFlight {
  struct Tag {
    OpenShare share;
    TagIndex entered = 0;    // the engine's tag that shows the share
    std::uint32_t life = 0;  // engine's life of the entry; 0: not entered
  };
  std::map<std::uint32_t, Tag> tags;  // by id; only tags with open transactions

  // The session's list in InFlight. Nothing: no report on this connection yet, or none to remember.
  // Now: `tags` is current. Before: `tags` is from when the connection was lost.
  enum class Known { Nothing, Now, Before };
  Known known = Known::Nothing;
  std::list<Session*>::iterator in_list;

  // After a reset: the engine's life in which all tags are entered, and the life in which the tags
  // below next_to_enter are.
  std::uint32_t entered_in = 0;
  std::uint32_t entering_in = 0;
  std::uint32_t next_to_enter = 0;
};

}  // namespace pcp::trace::agent
