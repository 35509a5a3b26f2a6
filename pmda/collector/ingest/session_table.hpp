// SPDX-License-Identifier: LGPL-2.1-or-later
// Sessions of version 2: what the agent remembers of a process from one connection to the next, so
// that nothing is counted twice. A session belongs to the user that opened it; with another user's
// id nobody gets at it. It is forgotten when the process says that it is done, some time after its
// connection has gone, or to make room for another one of the same user.
//
// Thread: the ingest thread's.
#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "collector/engine/types.hpp"
#include "collector/ingest/options.hpp"
#include "collector/ingest/session_tags.hpp"
#include "wire/batch.hpp"

namespace pcp::trace::agent {

class SessionTable {
 public:
  struct User;

  // What is limited. An id of a tag with labels that has no room takes little more than itself.
  struct Use {
    std::size_t tags = 0;
    std::size_t ids = 0;
  };

  struct Session {
    wire::SessionId id{};
    User* user = nullptr;
    std::uint64_t connection = 0;  // 0: none, it is remembered
    std::uint64_t last_sequence = 0;
    std::shared_ptr<const Origin> origin;
    SessionTags tags;
    Time remembered_since{};
    std::list<Session*>::iterator in_list;  // one of the two of its user
  };

  struct User {
    std::string name;
    std::map<wire::SessionId, Session> sessions;
    std::list<Session*> connected;
    std::list<Session*> remembered;  // the oldest first
    Use use;
  };

  // `size` is kept at the number of sessions.
  SessionTable(const IngestOptions& options, std::atomic<std::uint64_t>& size)
      : options_(options), size_(size) {}

  // Gives the user's session of this id, or null.
  Session* find(const std::string& user, const wire::SessionId& id);

  // Makes a session that belongs to a connection. Null if the user has too many connected ones.
  Session* open(const std::string& user, const wire::SessionId& id, std::uint64_t connection);

  // A connection takes up a session that has none; its connection has gone.
  void attach(Session& session, std::uint64_t connection);
  void detach(Session& session, Time now);

  void forget(Session& session);
  void forget_old(Time now);

  // A tag with labels for which there is no room is one with all others of its name.
  enum class Defined { Yes, OtherName, TooMany };
  Defined define(Session& session, std::uint32_t id, std::string_view name);

 private:
  template <typename Fits>
  bool fits_all_limits(const Session& session, Fits fits) const;
  bool has_room_for_tag(const Session& session, bool is_bare) const;
  bool has_room_for_id(const Session& session) const;
  Defined define_new(Session& session, std::uint32_t id, std::string_view name);

  const IngestOptions& options_;
  std::map<std::string, User> users_;
  std::atomic<std::uint64_t>& size_;
  Use use_;  // of all sessions
};

using Session = SessionTable::Session;

}  // namespace pcp::trace::agent
