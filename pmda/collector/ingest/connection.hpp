// SPDX-License-Identifier: LGPL-2.1-or-later
// One peer's connection: reads, cuts the stream into PDUs, writes the answers. It talks until the
// stream ends or the peer breaks a rule; then it leaves: it sends what is still to be said, closes
// its half, and throws away what comes until the peer has closed the other half, because closing
// over unread bytes would send a reset that overtakes the last words.
//
// Memory follows activity: an idle connection has no buffers. A peer that does not read its answers
// is not read from.
//
// Thread: the ingest thread's.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>

#include "collector/engine/descriptor.hpp"
#include "collector/ingest/dialogue.hpp"
#include "collector/ingest/peer.hpp"
#include "collector/ingest/turn.hpp"
#include "wire/frame.hpp"

namespace pcp::trace::agent {

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  // What a connection needs of the server.
  struct Host {
    DialogueContext& context;
    std::function<void(const Peer&, const std::string&)> say;  // a line of the log, rate-limited
    std::function<void(Connection&)> stopped_talking;          // it counts no more
    std::function<void()> control_due;  // it has room for a CONTROL that it had none for
    std::function<bool()> may_linger;   // false: too many are leaving already
    std::function<void(std::uint64_t)> closed;
    std::size_t unfinished_bytes = 0;  // of all connections
  };

  Connection(asio::io_context& io, Descriptor socket, Peer peer, Host& host);

  void greet();
  void refuse(std::int32_t code);      // instead of greet(): tells why, then leaves
  void leave(wire::ByeReason reason);  // says BYE if the peer knows it, then leaves
  void close();                        // at once

  // Tells it what to capture, if it does not know; later, if it has not read what it was told
  // before.
  void offer_control();

  // Ends what has taken too long. Called now and then.
  void check_time(Time now);

  const Peer& peer() const { return peer_; }
  bool talking() const { return phase_ == Phase::Talking; }
  bool speaks_version_2() const { return dialogue_.speaks_version_2(); }
  std::string describe(Time now) const;  // one line for the list of clients

 private:
  enum class Phase { New, Talking, Leaving, Closed };

  void wait_readable();
  void wait_writable();
  void on_readable();
  void read();
  void take_frames();
  void throw_away();
  void note_unfinished();
  void drop(wire::ByeReason reason, const std::string& why);
  void stop_talking();
  void leave();
  void write();

  asio::posix::stream_descriptor socket_;
  const Peer peer_;
  Host& host_;
  Dialogue dialogue_;
  Phase phase_ = Phase::New;
  wire::FrameReader reader_;
  std::size_t read_bytes_;            // how much to read at once: more if more comes
  std::size_t unfinished_bytes_ = 0;  // memory that waits for the rest of a PDU
  Time unfinished_since_{};
  std::string out_;             // to be written
  bool reading_ = false;        // waiting until the socket is readable
  bool writing_ = false;        // waiting until it is writable
  bool control_due_ = false;    // to be offered when all is written
  bool end_of_stream_ = false;  // the peer has closed its half
  bool half_closed_ = false;    // we have closed ours
  Time began_;
  Time leaving_since_{};
};

}  // namespace pcp::trace::agent
