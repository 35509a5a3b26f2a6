// SPDX-License-Identifier: LGPL-2.1-or-later
// One connection to an agent after the other: tries one endpoint after the other, waits for the
// greeting, then carries PDUs both ways. Knows nothing of what they say, nor when to try again.
//
// Thread: the flusher's.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <asio/generic/stream_protocol.hpp>
#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>

#include "delivery/endpoints.hpp"
#include "delivery/transport.hpp"
#include "wire/frame.hpp"
#include "wire/steady_clock.hpp"

namespace pcp::trace::client {

class Connection final : public Transport {
 public:
  // What the connection tells its owner. Each may call the connection's functions.
  class Listener {
   public:
    virtual void on_greeting(std::uint32_t version) = 0;
    virtual bool on_pdu(const wire::Frame& pdu) = 0;  // false: it makes no sense, hang up
    // A negative error code. Comes once for each open(), sooner or later, unless close() came
    // first.
    virtual void on_failure(int error) = 0;

   protected:
    ~Listener() = default;
  };

  Connection(asio::io_context& loop, Listener& listener);

  void open(const Options& options, Reach reach);
  void close();

  // Sends what is in `out`, as soon as what was given before has left. Requires: after the
  // greeting.
  void send(std::string_view out) override;

  // Both sides have agreed: from now on the agent may take its time. Called again and again is
  // fine.
  void establish() { deadline_.cancel(); }

  // Gives the connection up, as after an error on the way.
  void fail(int error);

  // The agent will hang up, which is nothing to talk about.
  void expect_end() { is_end_expected_ = true; }

 private:
  using Socket = asio::generic::stream_protocol::socket;

  void try_next_endpoint(int error);
  void fail(int error, const char* reason);
  void give_up(int error);
  template <typename MakeText>
  void tell(MakeText make_text);
  void tell_failure(const char* reason);
  int open_socket(int family);
  void read();
  bool take_pdus();
  bool take_greeting(const wire::Frame& pdu);
  void write();

  Listener& listener_;
  Socket socket_;
  asio::steady_timer deadline_;  // of the endpoint being tried
  SteadyTime attempt_ends_;      // all endpoints together
  std::uint64_t attempt_ = 0;    // tells handlers of an earlier attempt that they are too late

  std::vector<Endpoint> endpoints_;
  std::size_t next_endpoint_ = 0;
  int first_error_ = 0;
  bool greeted_ = false;
  bool is_end_expected_ = false;
  std::vector<std::string> told_;  // of attempts since the last connection

  wire::FrameReader reader_;
  std::string outgoing_;  // to be written next
  std::string leaving_;   // being written
  bool writing_ = false;
};

}  // namespace pcp::trace::client
