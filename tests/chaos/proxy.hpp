// SPDX-License-Identifier: LGPL-2.1-or-later
// The network between the clients and the agent of a schedule: one listener for each client, and
// for each connection a random misfortune, drawn from the seed, the client and the connection's
// number. Nothing is ever altered on the way, but much is late, in pieces, twice, or lost.
//
// Thread: its loop's.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>

#include "chaos/random.hpp"
#include "wire/batch.hpp"

namespace pcp::trace::chaos {

class Passage;  // one connection

// The agent, as seen by one client.
struct Door {
  int listener = -1;        // owned by whoever made it
  std::string socket_path;  // empty: TCP
  std::uint16_t port = 0;
};

// Make a listener, on a Unix socket or on a free port of 127.0.0.1.
Door open_unix_door(const std::string& path);
Door open_tcp_door();

struct ProxyFigures {
  std::uint64_t connections = 0;
  std::uint64_t faults = 0;        // connections that were refused, broken, stalled or left alone
  std::uint64_t resent = 0;        // batches and EVENTS that came again from the client
  std::uint64_t replayed = 0;      // the same that came again from us
  std::uint64_t answers_lost = 0;  // the agent took a batch, and its answer was kept back
};

class Proxy {
 public:
  Proxy(asio::io_context& loop, std::uint64_t seed, const std::vector<Door>& doors);
  ~Proxy();

  void set_agent(const std::string& socket_path, std::uint16_t port);

  // Cuts everything, and everybody who knocks, until come_back().
  void go_away();
  void come_back() { is_away_ = false; }
  bool has_knocked_since(std::size_t client) const { return knocked_[client]; }

  void calm_down();  // from now on this is a good network
  void cut_all();

  const ProxyFigures& figures() const { return figures_; }

 private:
  friend class Passage;

  // What went by of one session.
  struct Session {
    struct Series {
      std::uint64_t highest = 0;
      std::deque<std::pair<std::uint64_t, std::string>> last;  // as PDUs
    };
    Series batches;
    Series events;
  };

  void accept(std::size_t client);

  asio::io_context& loop_;
  std::uint64_t seed_;
  std::vector<Door> doors_;
  std::vector<asio::posix::stream_descriptor> listeners_;
  std::vector<std::uint64_t> accepted_;  // by client
  std::vector<bool> knocked_;
  std::string agent_path_;
  std::uint16_t agent_port_ = 0;
  bool is_away_ = false;
  bool is_calm_ = false;
  std::set<std::shared_ptr<Passage>> passages_;
  std::map<wire::SessionId, Session> sessions_;
  ProxyFigures figures_;
};

}  // namespace pcp::trace::chaos
