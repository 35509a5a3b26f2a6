// SPDX-License-Identifier: LGPL-2.1-or-later
#include "collector/ingest/session_table.hpp"

#include <cassert>
#include <utility>

#include "wire/dimensions.hpp"

namespace pcp::trace::agent {

namespace {

// Ids per tag of a limit.
constexpr std::size_t kMostIds = 4;

// True if `name` is the known id's own name.
bool stands_for(const SessionTag& tag, std::string_view name) {
  if (!tag.is_folded) return tag.name == name;
  const std::string_view bare = bare_name(name);
  return bare == tag.name && bare.size() < name.size();
}

}  // namespace

Session* SessionTable::find(const std::string& user, const wire::SessionId& id) {
  const auto owner = users_.find(user);
  if (owner == users_.end()) return nullptr;
  const auto session = owner->second.sessions.find(id);
  return session == owner->second.sessions.end() ? nullptr : &session->second;
}

Session* SessionTable::open(const std::string& name, const wire::SessionId& id,
                            std::uint64_t connection, Turn& turn) {
  const auto found = users_.find(name);
  if (found != users_.end() && found->second.sessions.size() >= options_.max_sessions_per_user) {
    if (found->second.remembered.empty()) return nullptr;
    forget(*found->second.remembered.front(), turn);  // may delete the user, too
  }
  SessionUser& user = user_of(name);
  Session& session = user.sessions[id];
  session.id = id;
  session.user = &user;
  session.connection = connection;
  session.in_list = user.connected.insert(user.connected.end(), &session);
  in_flight_.add(session);
  ++size_;
  return &session;
}

// Every step may run out of memory, which must leave no user without a place.
SessionUser& SessionTable::user_of(const std::string& name) {
  const auto known = users_.find(name);
  if (known != users_.end()) return known->second;
  const auto place = in_order_.emplace(0, nullptr);
  SessionUser& user = users_[name];
  user.in_order = place;
  place->second = &user;
  user.name = name;
  return user;
}

void SessionTable::attach(Session& session, std::uint64_t connection) {
  assert(session.connection == 0);
  SessionUser& user = *session.user;
  user.connected.splice(user.connected.end(), user.remembered, session.in_list);
  put_in_order(user);
  session.connection = connection;
  in_flight_.attach(session);
  boxes_.attach(session);
}

void SessionTable::detach(Session& session, Instant now, Turn& turn) {
  session.connection = 0;
  session.remembered_since = now;
  SessionUser& user = *session.user;
  user.remembered.splice(user.remembered.end(), user.connected, session.in_list);
  put_in_order(user);
  boxes_.detach(session, now);
  in_flight_.detach(session, turn);
  if (session.in_flight.tags.empty()) session.origin.reset();  // the next HELLO sets it again
  if (remembered_ <= options_.max_remembered_sessions) return;
  const auto with_most = in_order_.lower_bound(in_order_.rbegin()->first);
  forget(*with_most->second->remembered.front(), turn);
}

// Call after a change of the user's remembered sessions. Allocates nothing.
void SessionTable::put_in_order(SessionUser& user) {
  auto node = in_order_.extract(user.in_order);
  remembered_ += user.remembered.size() - node.key();
  node.key() = user.remembered.size();
  user.in_order = in_order_.insert(std::move(node));
}

void SessionTable::forget(Session& session, Turn& turn) {
  boxes_.forget(session);
  in_flight_.remove(session, turn);
  SessionUser& user = *session.user;
  (session.connection == 0 ? user.remembered : user.connected).erase(session.in_list);
  put_in_order(user);
  for (SessionUse* const use : {&user.use, &use_}) {
    use->tags -= session.tags.size();
    use->ids -= session.tags.ids();
  }
  --size_;
  user.sessions.erase(user.sessions.find(session.id));
  if (!user.sessions.empty()) return;
  in_order_.erase(user.in_order);
  users_.erase(users_.find(user.name));
}

void SessionTable::forget_old(Instant now, Turn& turn) {
  in_flight_.give_up_old(now, turn);
  for (auto next = users_.begin(); next != users_.end();) {
    SessionUser& user = next++->second;  // forget() may delete it
    std::size_t left = user.remembered.size();
    for (; left > 0; --left) {
      Session& oldest = *user.remembered.front();
      if (now - oldest.remembered_since < options_.remember_session) break;
      forget(oldest, turn);
    }
  }
}

template <typename Fits>
bool SessionTable::fits_all_limits(const Session& session, Fits fits) const {
  return fits(SessionUse{session.tags.size(), session.tags.ids()}, options_.max_tags_per_session) &&
         fits(session.user->use, options_.max_tags_per_user) &&
         fits(use_, options_.max_tags_in_sessions);
}

// Bare names have 1% more room than tags with labels.
bool SessionTable::has_room_for_tag(const Session& session, bool is_bare) const {
  return fits_all_limits(session, [is_bare](const SessionUse& use, std::size_t most) {
    return use.tags < most + (is_bare ? most / 100 : 0);
  });
}

bool SessionTable::has_room_for_id(const Session& session) const {
  return fits_all_limits(
      session, [](const SessionUse& use, std::size_t most) { return use.ids < kMostIds * most; });
}

SessionTable::Defined SessionTable::define(Session& session, std::uint32_t id,
                                           std::string_view name) {
  if (const SessionTag* known = session.tags.find(id))
    return stands_for(*known, name) ? Defined::Yes : Defined::OtherName;
  const std::size_t tags = session.tags.size();
  const Defined defined = define_new(session, id, name);
  if (defined != Defined::Yes) return defined;
  for (SessionUse* const use : {&session.user->use, &use_}) {
    use->tags += session.tags.size() - tags;
    ++use->ids;
  }
  return defined;
}

SessionTable::Defined SessionTable::define_new(Session& session, std::uint32_t id,
                                               std::string_view name) {
  if (!has_room_for_id(session)) return Defined::TooMany;
  const std::string_view bare = bare_name(name);
  const bool is_bare = bare.size() == name.size();
  if (has_room_for_tag(session, is_bare)) {
    session.tags.add(id, name);
    return Defined::Yes;
  }
  if (is_bare) return Defined::TooMany;
  if (session.tags.share_folded(id, bare)) return Defined::Yes;
  if (!has_room_for_tag(session, true)) return Defined::TooMany;
  session.tags.add_folded(id, bare);
  return Defined::Yes;
}

}  // namespace pcp::trace::agent
