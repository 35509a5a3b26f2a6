// SPDX-License-Identifier: LGPL-2.1-or-later
#include "collector/ingest/session_table.hpp"

#include <cassert>

namespace pcp::trace::agent {

Session* SessionTable::find(const std::string& user, const wire::SessionId& id) {
  const auto owner = users_.find(user);
  if (owner == users_.end()) return nullptr;
  const auto session = owner->second.sessions.find(id);
  return session == owner->second.sessions.end() ? nullptr : &session->second;
}

Session* SessionTable::open(const std::string& name, const wire::SessionId& id,
                            std::uint64_t connection) {
  const auto found = users_.find(name);
  if (found != users_.end() && found->second.sessions.size() >= options_.max_sessions_per_user) {
    if (found->second.remembered.empty()) return nullptr;
    forget(*found->second.remembered.front());  // may forget the user, too
  }
  User& user = users_[name];
  user.name = name;
  Session& session = user.sessions[id];
  session.id = id;
  session.user = &user;
  session.connection = connection;
  session.in_list = user.connected.insert(user.connected.end(), &session);
  ++size_;
  return &session;
}

void SessionTable::attach(Session& session, std::uint64_t connection) {
  assert(session.connection == 0);
  User& user = *session.user;
  user.connected.splice(user.connected.end(), user.remembered, session.in_list);
  session.connection = connection;
}

void SessionTable::detach(Session& session, Time now) {
  session.connection = 0;
  session.remembered_since = now;
  session.origin.reset();  // the next HELLO says it again
  User& user = *session.user;
  user.remembered.splice(user.remembered.end(), user.connected, session.in_list);
}

void SessionTable::forget(Session& session) {
  User& user = *session.user;
  (session.connection == 0 ? user.remembered : user.connected).erase(session.in_list);
  user.tags -= session.tags.size();
  tags_ -= session.tags.size();
  --size_;
  user.sessions.erase(user.sessions.find(session.id));
  if (user.sessions.empty()) users_.erase(users_.find(user.name));
}

void SessionTable::forget_old(Time now) {
  for (auto next = users_.begin(); next != users_.end();) {
    User& user = next++->second;  // goes with its last session
    std::size_t left = user.remembered.size();
    for (; left > 0; --left) {
      Session& oldest = *user.remembered.front();
      if (now - oldest.remembered_since < options_.remember_session) break;
      forget(oldest);
    }
  }
}

SessionTable::Defined SessionTable::define(Session& session, std::uint32_t id,
                                           std::string_view name) {
  if (const SessionTag* known = session.tags.find(id))
    return known->name == name ? Defined::Yes : Defined::OtherName;
  User& user = *session.user;
  if (session.tags.size() >= options_.max_tags_per_session ||
      user.tags >= options_.max_tags_per_user || tags_ >= options_.max_tags_in_sessions)
    return Defined::TooMany;
  session.tags.add(id, name);
  ++user.tags;
  ++tags_;
  return Defined::Yes;
}

}  // namespace pcp::trace::agent
