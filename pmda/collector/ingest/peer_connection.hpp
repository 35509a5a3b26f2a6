// SPDX-License-Identifier: LGPL-2.1-or-later
// One peer's connection: reads, cuts the stream into PDUs, writes the answers. The connection talks
// until the stream ends or the peer breaks a rule; then it lingers: it sends the last answers,
// shuts down our half, and discards input until the peer has closed the other half. Closing with
// unread input would send a reset that overtakes the last answers.
//
// Memory follows activity: an idle connection has no buffers. A connection is not read while its
// peer does not read the answers.
//
// Thread: the ingest thread.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>

#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>

#include "base/descriptor.hpp"
#include "collector/ingest/dialogue.hpp"
#include "collector/ingest/peer.hpp"
#include "collector/ingest/turn.hpp"
#include "wire/frame.hpp"

namespace pcp::trace::agent {

class Connections;

class PeerConnection : public std::enable_shared_from_this<PeerConnection> {
 public:
  PeerConnection(asio::io_context& io, Descriptor socket, Peer peer, Connections& all);

  void greet();
  void refuse(std::int32_t code);        // instead of greet(): sends the reason, then lingers
  void say_bye(wire::ByeReason reason);  // sends BYE (version 2 only), then lingers
  void close();                          // at once

  // Sends a CONTROL if the capture settings have news. If earlier output is still unsent, sends it
  // after that.
  void offer_control();

  // Ends a connection whose PDU or lingering takes too long. Called from time to time.
  void check_time(Instant now);

  const Peer& peer() const { return peer_; }
  bool is_talking() const { return phase_ == Phase::Talking; }
  bool is_version_2() const { return dialogue_.is_version_2(); }
  std::string describe(Instant now) const;  // a line for the list of clients

 private:
  enum class Phase { New, Talking, Lingering, Closed };

  void wait_readable();
  void wait_writable();
  void on_readable();
  void read();
  ssize_t receive(char* room);
  void handle_frames();
  void throw_away();
  void count_unfinished();
  void drop(wire::ByeReason reason, const std::string& why);  // counts, logs and says bye
  void end_dialogue();
  void linger();
  void write();

  asio::posix::stream_descriptor socket_;
  const Peer peer_;
  Connections& all_;
  DialogueContext& context_;  // of all
  Dialogue dialogue_;
  Phase phase_ = Phase::New;
  wire::FrameReader reader_;
  std::size_t read_bytes_;            // size of the next read; adapts to the traffic
  std::size_t unfinished_bytes_ = 0;  // memory for incomplete PDUs
  Instant unfinished_since_{};
  std::string out_;             // output not yet sent
  bool reading_ = false;        // waits for the socket to be readable
  bool writing_ = false;        // waits for the socket to be writable
  bool control_due_ = false;    // a CONTROL follows when `out_` is sent
  bool end_of_stream_ = false;  // the peer has closed its half
  bool half_closed_ = false;    // we have closed our half
  Instant began_;
  Instant lingering_since_{};
};

}  // namespace pcp::trace::agent
