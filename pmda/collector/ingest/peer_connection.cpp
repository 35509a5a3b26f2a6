// SPDX-License-Identifier: LGPL-2.1-or-later
#include "collector/ingest/peer_connection.hpp"

#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <exception>
#include <utility>

#include "collector/ingest/acceptor.hpp"
#include "collector/ingest/connections.hpp"
#include "wire/legacy.hpp"

namespace pcp::trace::agent {

namespace {

using wire::ByeReason;

constexpr std::size_t kLeastReadBytes = 4 * 1024;

// Limits a flood: the other connections wait for one such read per flooding connection.
constexpr std::size_t kMostReadBytes = 16 * 1024;

// Limit of unsent answers. Beyond it, the connection is not read.
constexpr std::size_t kMostUnwrittenBytes = 64 * 1024;

// How long a lingering peer may take to read the last answers and to close.
constexpr Duration kLongestLinger = std::chrono::seconds(5);

bool would_block(int error) { return error == EAGAIN || error == EWOULDBLOCK || error == EINTR; }

}  // namespace

PeerConnection::PeerConnection(asio::io_context& io, Descriptor socket, Peer peer, Connections& all)
    : socket_(handed_over(io, std::move(socket))),
      peer_(std::move(peer)),
      all_(all),
      context_(all.context()),
      dialogue_(context_, peer_),
      reader_(dialogue_.max_pdu_bytes()),
      read_bytes_(kLeastReadBytes),
      began_(steady_now()) {}

void PeerConnection::greet() {
  phase_ = Phase::Talking;
  dialogue_.greet(out_);
  write();
  wait_readable();
}

void PeerConnection::refuse(std::int32_t code) {
  wire::append_ack(out_, context_.pid, code);
  linger();
}

void PeerConnection::say_bye(ByeReason reason) {
  dialogue_.bye(out_, reason);
  linger();
}

void PeerConnection::linger() {
  end_dialogue();
  phase_ = Phase::Lingering;
  lingering_since_ = steady_now();
  write();
  if (phase_ == Phase::Lingering && !all_.may_linger()) close();
  wait_readable();
}

void PeerConnection::close() {
  if (phase_ == Phase::Closed) return;
  end_dialogue();
  phase_ = Phase::Closed;
  asio::error_code ignored;
  socket_.close(ignored);
  all_.forget(peer_.number);
}

void PeerConnection::offer_control() {
  if (phase_ != Phase::Talking) return;
  control_due_ = !out_.empty();
  if (control_due_) return;
  try {
    if (dialogue_.append_control(out_)) write();
  } catch (const std::exception& problem) {
    tally(context_.shared.counters.dropped_limit);
    close();
    context_.log.say(peer_, std::string("dropped: ") + problem.what());
  }
}

void PeerConnection::wait_readable() {
  if (phase_ == Phase::Closed || reading_ || end_of_stream_) return;
  if (phase_ == Phase::Talking && out_.size() > kMostUnwrittenBytes) return;
  reading_ = true;
  socket_.async_wait(asio::posix::stream_descriptor::wait_read,
                     [self = shared_from_this()](const asio::error_code& error) {
                       self->reading_ = false;
                       if (!error) self->on_readable();
                     });
}

void PeerConnection::wait_writable() {
  if (phase_ == Phase::Closed || writing_) return;
  writing_ = true;
  socket_.async_wait(asio::posix::stream_descriptor::wait_write,
                     [self = shared_from_this()](const asio::error_code& error) {
                       self->writing_ = false;
                       if (error) return;
                       self->write();
                       // While the connection was not read, the peer could not finish its PDU.
                       if (!self->reading_) self->unfinished_since_ = steady_now();
                       self->wait_readable();
                     });
}

void PeerConnection::on_readable() {
  try {
    if (phase_ == Phase::Talking) read();
    if (phase_ == Phase::Lingering) throw_away();
  } catch (const std::exception& problem) {
    // Probably out of memory. Only this peer may suffer from it.
    if (phase_ == Phase::Talking) tally(context_.shared.counters.dropped_limit);
    close();
    context_.log.say(peer_, std::string("dropped: ") + problem.what());
  }
  wait_readable();
}

void PeerConnection::read() {
  char* room = reader_.prepare(read_bytes_);
  const ssize_t got = receive(room);
  if (got < 0) {
    if (!would_block(errno)) close();
    return;
  }
  if (got == 0) {
    end_of_stream_ = true;
    linger();
    return;
  }
  const auto bytes = static_cast<std::size_t>(got);
  reader_.commit(bytes);
  tally(context_.shared.counters.bytes, bytes);
  if (bytes == read_bytes_)
    read_bytes_ = std::min(read_bytes_ * 4, kMostReadBytes);
  else if (bytes < read_bytes_ / 4)
    read_bytes_ = std::max(read_bytes_ / 2, kLeastReadBytes);

  handle_frames();
  if (phase_ == Phase::Talking) write();
}

// With the bytes may come a descriptor. The kernel closes others, for which there is no room.
ssize_t PeerConnection::receive(char* room) {
  alignas(cmsghdr) std::array<char, CMSG_LEN(sizeof(int))> control{};
  iovec bytes{room, read_bytes_};
  msghdr message{};
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const ssize_t got = ::recvmsg(socket_.native_handle(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  const cmsghdr* const came = got < 0 ? nullptr : CMSG_FIRSTHDR(&message);
  if (came == nullptr || came->cmsg_type != SCM_RIGHTS || came->cmsg_level != SOL_SOCKET ||
      came->cmsg_len != control.size())
    return got;
  int descriptor = -1;
  std::memcpy(&descriptor, CMSG_DATA(came), sizeof descriptor);
  dialogue_.take_descriptor(Descriptor(descriptor));
  return got;
}

void PeerConnection::handle_frames() {
  Turn turn(context_.shared);
  wire::Frame frame;
  bool whole_ones = false;
  for (;;) {
    switch (reader_.next(frame)) {
      case wire::FrameReader::Status::Frame: {
        whole_ones = true;
        const auto ending = dialogue_.on_frame(frame, turn, out_);
        if (ending) {
          turn.end();
          if (ending->reason == ByeReason::Done)
            linger();
          else
            drop(ending->reason, ending->why);
          return;
        }
        reader_.set_max_pdu_bytes(dialogue_.max_pdu_bytes());
        break;
      }
      case wire::FrameReader::Status::Malformed:
        turn.end();
        drop(ByeReason::Malformed, "a PDU whose length is not between 12 and " +
                                       std::to_string(dialogue_.max_pdu_bytes()));
        return;
      case wire::FrameReader::Status::NeedMore:
        turn.end();
        if (whole_ones || unfinished_bytes_ == 0) unfinished_since_ = steady_now();
        count_unfinished();
        return;
    }
  }
}

// Frees the reader's memory if it is empty, else counts the memory.
void PeerConnection::count_unfinished() {
  const std::size_t before = unfinished_bytes_;
  unfinished_bytes_ = reader_.pending_bytes() == 0 ? 0 : reader_.pending_bytes() + read_bytes_;
  if (unfinished_bytes_ == 0) reader_ = wire::FrameReader(dialogue_.max_pdu_bytes());
  if (!all_.change_unfinished_bytes(before, unfinished_bytes_) && unfinished_bytes_ > 0)
    drop(ByeReason::TooMuch, "too many bytes of unfinished PDUs in memory");
}

void PeerConnection::throw_away() {
  std::array<char, 16 * 1024> bin;
  const ssize_t got = ::recv(socket_.native_handle(), bin.data(), bin.size(), MSG_DONTWAIT);
  if (got > 0) return;
  if (got < 0) {
    if (!would_block(errno)) close();
    return;
  }
  end_of_stream_ = true;
  write();
}

void PeerConnection::drop(ByeReason reason, const std::string& why) {
  IngestCounters& counters = context_.shared.counters;
  switch (reason) {
    case ByeReason::Done:
      break;
    case ByeReason::Malformed:
      tally(counters.dropped_malformed);
      break;
    case ByeReason::TooMuch:
      tally(counters.dropped_limit);
      break;
    case ByeReason::QuotaExceeded:
      tally(counters.refused_quota);
      break;
    case ByeReason::Timeout:
      tally(counters.dropped_timeout);
      break;
  }
  context_.log.say(peer_, "dropped: " + why);
  say_bye(reason);
}

void PeerConnection::end_dialogue() {
  if (phase_ != Phase::Talking) return;
  phase_ = Phase::Lingering;  // set first: the next calls must not enter this function again
  if (!dialogue_.has_begun()) tally(context_.shared.counters.said_nothing);
  dialogue_.close(steady_now());
  all_.change_unfinished_bytes(std::exchange(unfinished_bytes_, 0), 0);
  reader_ = wire::FrameReader(wire::kLeastMaxPduBytes);
  all_.release(*this);
}

void PeerConnection::write() {
  std::size_t written = 0;
  while (written < out_.size()) {
    const ssize_t sent = ::send(socket_.native_handle(), out_.data() + written,
                                out_.size() - written, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0) {
      const bool later = would_block(errno);
      out_.erase(0, written);
      return later ? wait_writable() : close();
    }
    written += static_cast<std::size_t>(sent);
  }
  out_ = {};
  if (std::exchange(control_due_, false)) offer_control();
  if (phase_ != Phase::Lingering) return;
  if (!half_closed_) ::shutdown(socket_.native_handle(), SHUT_WR);
  half_closed_ = true;
  if (end_of_stream_) close();
}

void PeerConnection::check_time(Instant now) {
  if (phase_ == Phase::Lingering && now - lingering_since_ >= kLongestLinger) close();
  if (phase_ != Phase::Talking || unfinished_bytes_ == 0 || !reading_ ||
      now - unfinished_since_ < context_.options.unfinished_pdu)
    return;
  int unread = 0;
  if (::ioctl(socket_.native_handle(), FIONREAD, &unread) == 0 && unread > 0) return;  // our delay
  drop(ByeReason::Timeout, "a PDU that was not completed in time");
}

std::string PeerConnection::describe(Instant now) const {
  const auto age = std::chrono::duration_cast<std::chrono::seconds>(now - began_);
  return peer_.describe() + ": connected " + std::to_string(age.count()) + " s, " +
         dialogue_.describe();
}

}  // namespace pcp::trace::agent
