// SPDX-License-Identifier: LGPL-2.1-or-later
// One connection through the proxy, and its fault.
#pragma once

#include <array>
#include <chrono>
#include <memory>
#include <string>

#include <asio/generic/stream_protocol.hpp>
#include <asio/steady_timer.hpp>

#include "chaos/proxy.hpp"
#include "wire/events.hpp"
#include "wire/frame.hpp"

namespace pcp::trace::chaos {

class Passage : public std::enable_shared_from_this<Passage> {
 public:
  using Socket = asio::generic::stream_protocol::socket;

  Passage(Proxy& proxy, Socket client, bool is_tcp, Random random);

  void begin();
  void calm_down();
  void end();  // cuts the connection at once

 private:
  using Milliseconds = std::chrono::milliseconds;

  enum class Opening { Refused, Reset, NeverAnswered, Passes };

  // The event that triggers the fault.
  enum class Trigger { Never, BytesFromClient, BytesFromAgent, Batch, Answer, Time };

  enum class Misfortune {
    Cut,
    HalfClosed,  // one side sees the other's end of stream; then cut
    LateWords,   // the client is cut off; its bytes arrive later
    Pause,       // nothing is read for a while
    BlackHole,   // nothing is read any more, until the cut
    Swallowed,   // everything is read and nothing arrives, until the cut
    AgentGone    // the agent's side is closed; the client gets nothing for a while
  };

  // How bytes are forwarded.
  enum class Style { Plain, Crumbs, Pieces, Merged };

  struct Way {
    Socket& source;
    Socket& sink;
    asio::steady_timer timer;
    wire::FrameReader frames{1 << 20};
    std::string held{};  // read and not yet written
    std::string leaving{};
    std::array<char, 4096> room{};
    std::uint64_t bytes = 0;
    bool reading = false;
    bool writing = false;
    bool stalled = false;
    bool swallows = false;
    bool ended = false;  // the source has sent its end of stream
  };

  void connect();
  void pump(Way& way) { read(way), write(way); }
  void read(Way& way);
  void take(Way& way, std::string_view bytes);
  bool triggered(Way& way, std::string_view bytes);
  bool take_from_client(const wire::Frame& pdu);  // both: true if the connection breaks at this PDU
  bool take_from_agent(const wire::Frame& pdu);
  void note(const wire::Frame& pdu, std::uint64_t sequence, Proxy::Session::Series& series);
  void take_welcome(const wire::Welcome& welcome);
  void replay(Proxy::Session::Series& series, std::uint64_t until);
  void write(Way& way);
  void finish(Way& way);
  void strike();
  void later(Milliseconds delay, void (Passage::*what)());
  void resume();
  void leave();

  Proxy& proxy_;
  Socket client_;
  Socket agent_;
  const bool is_tcp_;
  Random random_;
  Way up_;
  Way down_;
  asio::steady_timer timer_;

  Opening opening_ = Opening::Passes;
  Trigger trigger_ = Trigger::Never;
  std::uint64_t countdown_ = 0;
  Misfortune misfortune_ = Misfortune::Cut;
  Style style_ = Style::Plain;
  bool replays_ = false;
  bool is_faulty_ = false;  // the fault has begun, and ends with a cut
  bool is_over_ = false;
  Proxy::Session* session_ = nullptr;
};

}  // namespace pcp::trace::chaos
