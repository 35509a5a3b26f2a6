// SPDX-License-Identifier: LGPL-2.1-or-later
// What a session has said last of its transactions in flight; InFlight keeps it.
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
    TagIndex entered = 0;    // the engine's tag that shows it
    std::uint32_t life = 0;  // of the engine, that it has entered in; 0: none
  };
  std::map<std::uint32_t, Tag> tags;  // by id; those of which something is open

  // Which list it is in: nothing was said on its connection yet, or nothing is to be remembered;
  // what is in `tags` is so now; it was when the connection was lost.
  enum class Known { Nothing, Now, Before };
  Known known = Known::Nothing;
  std::list<Session*>::iterator in_list;

  // After a reset: the engine's life in which all have entered; the one in which all have up to
  // this id.
  std::uint32_t entered_in = 0;
  std::uint32_t entering_in = 0;
  std::uint32_t next_to_enter = 0;
};

}  // namespace pcp::trace::agent
