// SPDX-License-Identifier: LGPL-2.1-or-later
// One agent connection after the other: tries the endpoints in turn, waits for the greeting, then
// carries PDUs both ways. Does not interpret them, and does not retry by itself.
//
// Thread: the flusher's.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/steady_timer.hpp>

#include "base/clock.hpp"
#include "link/endpoints.hpp"
#include "link/sender.hpp"
#include "wire/frame.hpp"

namespace pcp::trace::client {

// Connects if there is only one place for an agent, as in a recording. Does not wait: a Unix socket
// takes a connection at once, or never. The next Connection uses this one. So the agent knows of a
// process before its first call returns, and sees from the connection's end if something may be
// missing. False if it did not connect. Thread: any, in a process without a flusher.
bool knock(const ClientOptions& options);

class Connection final : public Transport {
 public:
  // Events for the owner, which may call the connection's functions inside.
  class Listener {
   public:
    virtual void on_greeting(std::uint32_t version) = 0;
    virtual bool on_pdu(const wire::Frame& pdu) = 0;  // false: malformed, hang up
    // A negative error code. Comes once per open(), unless close() came first.
    virtual void on_failure(int error) = 0;

   protected:
    ~Listener() = default;
  };

  Connection(asio::io_context& loop, Listener& listener);

  void open(const ClientOptions& options, Reach reach);
  void close();

  // Sends `out` after everything sent before. Requires: after the greeting.
  void send(std::string_view out) override;

  // Both sides are ready: no deadline from now on. May be called again.
  void establish() { deadline_.cancel(); }

  // Ends the connection as after an I/O error.
  void fail(int error);

  // The agent is going to hang up: prints nothing then.
  void expect_end() { is_end_expected_ = true; }

 private:
  void try_next_endpoint(int error);
  void fail(int error, const char* reason);
  void give_up(int error);
  template <typename MakeText>
  void tell(MakeText make_text);
  void tell_failure(const char* reason);
  bool take_over_knock();
  bool begin_to_connect(const Endpoint& endpoint);
  bool take(int fd);
  void on_connected(int family);
  void read();
  bool handle_pdus();
  bool on_greeting(const wire::Frame& pdu);
  bool write_some();
  void wait_to_write();

  Listener& listener_;
  asio::posix::stream_descriptor socket_;
  asio::steady_timer deadline_;  // of the endpoint being tried
  Instant attempt_ends_;         // for all endpoints together
  std::uint64_t attempt_ = 0;    // handlers of earlier attempts are ignored

  std::vector<Endpoint> endpoints_;
  std::size_t next_endpoint_ = 0;
  int first_error_ = 0;
  bool greeted_ = false;
  bool is_end_expected_ = false;
  std::vector<std::string> told_;  // printed since the last connection

  wire::FrameReader reader_;
  std::string outgoing_;
  bool writing_ = false;
};

}  // namespace pcp::trace::client
