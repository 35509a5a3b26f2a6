// SPDX-License-Identifier: LGPL-2.1-or-later
// The network between a schedule's clients and its agent: one listener for each client, and for
// each connection a random fault, drawn from the seed, the client and the connection's number. The
// network never alters bytes, but they may be late, in pieces, twice, or lost.
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
#include "chaos/schedule.hpp"
#include "wire/batch.hpp"

namespace pcp::trace::chaos {

class Passage;  // one connection

// The agent's address, as seen by one client.
struct Door {
  int listener = -1;        // owned by the maker
  std::string socket_path;  // empty: TCP
  std::uint16_t port = 0;
};

// Makes a listening socket, on a Unix path or, without one, on a free port of 127.0.0.1.
Door open_door(const std::string& path);

class Proxy {
 public:
  Proxy(asio::io_context& loop, std::uint64_t seed, const std::vector<Door>& doors,
        Figures& figures);
  ~Proxy();

  void set_agent(const std::string& socket_path, std::uint16_t port);

  // Cuts all connections, and each new one, until come_back().
  void go_away();
  void come_back() { is_away_ = false; }
  bool has_knocked_since(std::size_t client) const { return knocked_[client]; }

  void calm_down();  // from now on without faults
  void cut_all();

 private:
  friend class Passage;

  // The PDUs of one session.
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
  Figures& figures_;
};

}  // namespace pcp::trace::chaos
