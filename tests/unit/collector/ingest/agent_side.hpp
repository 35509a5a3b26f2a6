// SPDX-License-Identifier: LGPL-2.1-or-later
// The agent's side of the protocol without sockets and threads. The clock stands until a test moves
// it.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "collector/ingest/dialogue.hpp"
#include "collector/shared.hpp"
#include "unit/collector/ingest/reader_fixture.hpp"
#include "unit/collector/ingest/test_peer.hpp"

namespace pcp::trace::agent {

class AgentSide : public ReaderFixture {
 protected:
  AgentSide() {
    now_ = steady_now();
    start({});
  }

  // Starts anew, with options that differ as `change` makes them.
  template <typename Change>
  void start_with(Change change, const EngineOptions& engine = {}) {
    IngestOptions options;
    change(options);
    start(options, engine);
  }

  // A program on the Unix socket, and one over TCP; and those that have said HELLO.
  PduStream& unix_socket(pid_t pid = ::getpid(), uid_t uid = ::getuid());
  PduStream& tcp(const char* address = "127.0.0.1") { return connect({.address = address}); }
  PduStream& client(std::uint8_t session = 1);
  PduStream& client(const wire::Hello& hello);

  // Forgets all values, without and with the work that is due after that.
  void reset_engine() { Turn(parts_->shared).engine().reset(now_); }
  void reset() {
    reset_engine();
    pass({});
  }
  // Enters so many transactions in flight again. False if that was all.
  bool enter_again(std::size_t most) {
    Turn turn(parts_->shared, clock);
    return parts_->context.sessions.in_flight().enter_again(turn, most);
  }
  // Lets this time pass, and does the agent's periodic work.
  void pass(Duration time);
  // Limits the black boxes of all users, and of each.
  void limit_boxes(std::size_t most, std::size_t most_of_a_user);
  // Sends a CONTROL to each program that lacks the latest captures.
  void tell_captures();

  static Instant now() { return now_; }
  SharedSpans& spans() const { return parts_->shared.spans; }

  Reader reader() const override { return Reader(parts_->shared); }

 private:
  struct Parts;

  class Line final : public PduStream {
   public:
    Line(Parts& parts, Peer peer);
    bool send(std::string_view bytes) override;
    bool send_with(std::string_view bytes, const std::vector<int>& descriptors) override;
    void close() override;
    bool at_end() override { return !is_open_; }
    void tell_captures() { dialogue_.append_control(received_); }

   private:
    bool fill() override { return false; }

    Parts& parts_;
    const Peer peer_;
    Dialogue dialogue_{parts_.context, peer_};
    wire::FrameReader frames_{1 << 20};
    bool is_open_ = true;
  };

  struct Parts {
    IngestOptions options;
    Shared shared;
    DialogueContext context{shared, options, LimitedLog(remember_line)};
    std::deque<Line> lines{};
  };

  static Instant clock() { return now_; }
  void start(const IngestOptions& options, const EngineOptions& engine = {});
  PduStream& connect(Peer peer);

  static inline Instant now_;
  std::unique_ptr<Parts> parts_;
};

}  // namespace pcp::trace::agent
