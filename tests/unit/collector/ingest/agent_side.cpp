// SPDX-License-Identifier: LGPL-2.1-or-later
#include "unit/collector/ingest/agent_side.hpp"

#include <fcntl.h>

namespace pcp::trace::agent {

void AgentSide::start(const IngestOptions& options, const EngineOptions& engine) {
  parts_.reset(new Parts{options, {engine, {}, now_}});
  parts_->context.agent_instance = 42;
  parts_->context.end_connection = [this](std::uint64_t number) {
    parts_->lines.at(number - 1).close();
  };
}

PduStream& AgentSide::connect(Peer peer) {
  peer.number = parts_->lines.size() + 1;
  return parts_->lines.emplace_back(*parts_, std::move(peer));
}

PduStream& AgentSide::unix_socket(pid_t pid, uid_t uid) {
  return connect(
      {.address = "local:", .uid = uid, .gid = ::getgid(), .pid = static_cast<std::uint32_t>(pid)});
}

PduStream& AgentSide::client(std::uint8_t session) { return client(hello_of(session)); }

PduStream& AgentSide::client(const wire::Hello& hello) {
  PduStream& peer = unix_socket();
  EXPECT_TRUE(peer.hello(hello));
  return peer;
}

void AgentSide::pass(Duration time) {
  now_ += time;
  {
    Turn turn(parts_->shared, clock);
    parts_->context.sessions.forget_old(now_, turn);
  }
  while (enter_again(1) || parts_->context.spans.tick(now_) || parts_->context.boxes.read_on(now_))
    continue;
}

void AgentSide::limit_boxes(std::size_t most, std::size_t most_of_a_user) {
  parts_->context.boxes.set_limit(most, most_of_a_user);
}

void AgentSide::tell_captures() {
  for (Line& line : parts_->lines) line.tell_captures();
}

AgentSide::Line::Line(Parts& parts, Peer peer) : parts_(parts), peer_(std::move(peer)) {
  dialogue_.greet(received_);
}

bool AgentSide::Line::send(std::string_view bytes) {
  if (!is_open_) return false;
  bytes.copy(frames_.prepare(bytes.size()), bytes.size());
  frames_.commit(bytes.size());
  Turn turn(parts_.shared, clock);
  wire::Frame frame;
  while (frames_.next(frame) == wire::FrameReader::Status::Frame) {
    const auto ending = dialogue_.on_frame(frame, turn, received_);
    if (!ending) continue;
    turn.end();
    if (ending->reason != wire::ByeReason::Done) {
      parts_.context.log.say(peer_, ending->why);
      dialogue_.bye(received_, ending->reason);
    }
    close();
    break;
  }
  return true;
}

bool AgentSide::Line::send_with(std::string_view bytes, const std::vector<int>& descriptors) {
  for (const int each : descriptors)
    dialogue_.take_descriptor(Descriptor(::fcntl(each, F_DUPFD_CLOEXEC, 0)));
  return send(bytes);
}

void AgentSide::Line::close() {
  if (std::exchange(is_open_, false)) dialogue_.close(now_);
}

}  // namespace pcp::trace::agent
