// SPDX-License-Identifier: LGPL-2.1-or-later
#include "chaos/passage.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstring>

#include <asio/write.hpp>

namespace pcp::trace::chaos {
namespace {

constexpr std::size_t kMostHeld = 64 * 1024;
constexpr std::size_t kKept = 8;

// Closes the socket; `with_reset`: the peer gets a reset.
void close(Passage::Socket& socket, bool with_reset) {
  if (!socket.is_open()) return;
  const linger at_once{1, 0};
  if (with_reset)
    ::setsockopt(socket.native_handle(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  asio::error_code ignored;
  socket.close(ignored);
}

void shut(Passage::Socket& socket) {
  if (socket.is_open()) ::shutdown(socket.native_handle(), SHUT_WR);
}

void send_at_once(Passage::Socket& socket) {
  const int yes = 1;  // fails on a Unix socket
  ::setsockopt(socket.native_handle(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
}

asio::generic::stream_protocol::endpoint endpoint_of(const std::string& path, std::uint16_t port) {
  if (!path.empty()) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    return {&address, sizeof address};
  }
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return {&address, sizeof address};
}

}  // namespace

Passage::Passage(Proxy& proxy, Socket client, bool is_tcp, Random random)
    : proxy_(proxy),
      client_(std::move(client)),
      agent_(proxy.loop_),
      is_tcp_(is_tcp),
      random_(random),
      up_{client_, agent_, asio::steady_timer(proxy.loop_)},
      down_{agent_, client_, asio::steady_timer(proxy.loop_)},
      timer_(proxy.loop_) {
  if (proxy.is_calm_) return;
  if (random_.chance(25)) opening_ = random_.one_of(Opening::NeverAnswered);
  trigger_ = random_.one_of(Trigger::Time);
  const bool counts_bytes =
      trigger_ == Trigger::BytesFromClient || trigger_ == Trigger::BytesFromAgent;
  countdown_ = counts_bytes ? random_.between(1, random_.chance(50) ? 200 : 4000)
                            : random_.between(1, random_.chance(50) ? 3 : 30);
  misfortune_ = random_.one_of(Misfortune::AgentGone);
  style_ = random_.one_of(Style::Merged);
  replays_ = random_.chance(50);
}

void Passage::begin() {
  if (proxy_.is_away_) return leave();
  switch (opening_) {
    case Opening::Refused:
    case Opening::Reset:
      ++proxy_.figures_.faults;
      return leave();
    case Opening::NeverAnswered:
      ++proxy_.figures_.faults;
      is_faulty_ = true;
      return later(Milliseconds(random_.between(20, 500)), &Passage::leave);
    case Opening::Passes:
      return connect();
  }
}

void Passage::connect() {
  const std::string path = is_tcp_ ? std::string() : proxy_.agent_path_;
  agent_.async_connect(endpoint_of(path, proxy_.agent_port_),
                       [this, self = shared_from_this()](const asio::error_code& refused) {
                         if (is_over_) return;
                         if (refused) return leave();
                         send_at_once(client_);
                         send_at_once(agent_);
                         if (trigger_ == Trigger::Time)
                           later(Milliseconds(random_.between(1, 400)), &Passage::strike);
                         pump(up_);
                         pump(down_);
                       });
}

void Passage::calm_down() {
  trigger_ = Trigger::Never;
  style_ = Style::Plain;
  replays_ = false;
  if (is_faulty_ || opening_ == Opening::NeverAnswered) return leave();
  timer_.cancel();
  resume();
}

void Passage::later(Milliseconds delay, void (Passage::*what)()) {
  timer_.expires_after(delay);
  timer_.async_wait([this, self = shared_from_this(), what](const asio::error_code& cancelled) {
    if (!cancelled && !is_over_) (this->*what)();
  });
}

void Passage::read(Way& way) {
  if (is_over_ || way.reading || way.stalled || way.ended || !way.source.is_open() ||
      way.held.size() > kMostHeld)
    return;
  way.reading = true;
  way.source.async_read_some(
      asio::buffer(way.room),
      [this, self = shared_from_this(), &way](const asio::error_code& error, std::size_t bytes) {
        way.reading = false;
        if (is_over_) return;
        if (error) {
          way.ended = true;
          return finish(way);
        }
        take(way, {way.room.data(), bytes});
        pump(way);
      });
}

void Passage::take(Way& way, std::string_view bytes) {
  if (way.swallows) return;
  if (!triggered(way, bytes)) {
    way.held += bytes;
    return;
  }
  if (misfortune_ == Misfortune::Pause) {
    way.held += bytes;
    return strike();
  }
  // A part of the last bytes may still arrive: a truncated PDU.
  if (trigger_ == Trigger::BytesFromClient || trigger_ == Trigger::BytesFromAgent)
    way.held += bytes.substr(0, bytes.size() - (way.bytes - countdown_));
  if (trigger_ == Trigger::Batch) way.held += bytes.substr(0, random_.between(0, bytes.size()));
  way.swallows = true;
  strike();
}

bool Passage::triggered(Way& way, std::string_view bytes) {
  const bool from_client = &way == &up_;
  std::memcpy(way.frames.prepare(bytes.size()), bytes.data(), bytes.size());
  way.frames.commit(bytes.size());
  bool breaks_here = false;
  for (wire::Frame pdu; way.frames.next(pdu) == wire::FrameReader::Status::Frame;)
    breaks_here |= from_client ? take_from_client(pdu) : take_from_agent(pdu);
  way.bytes += bytes.size();
  if (trigger_ == (from_client ? Trigger::BytesFromClient : Trigger::BytesFromAgent))
    return way.bytes >= countdown_;
  return breaks_here;
}

bool Passage::take_from_client(const wire::Frame& pdu) {
  if (pdu.type == wire::PduType::Hello)
    if (const auto hello = wire::decode_hello(pdu.payload))
      session_ = &proxy_.sessions_[hello->session];
  if (session_ == nullptr) return false;
  if (pdu.type == wire::PduType::Events) {
    wire::Events events;
    if (wire::decode_events(pdu.payload, events)) note(pdu, events.sequence, session_->events);
    return false;
  }
  wire::Batch batch;
  if (pdu.type != wire::PduType::Batch || !wire::decode_batch(pdu.payload, batch)) return false;
  note(pdu, batch.sequence, session_->batches);
  return trigger_ == Trigger::Batch && --countdown_ == 0;
}

void Passage::note(const wire::Frame& pdu, std::uint64_t sequence, Proxy::Session::Series& series) {
  if (sequence <= series.highest) ++proxy_.figures_.resent;
  series.highest = std::max(series.highest, sequence);
  wire::append_frame(series.last.emplace_back(sequence, std::string()).second, pdu.type, pdu.pid,
                     pdu.payload);
  if (series.last.size() > kKept) series.last.pop_front();
}

bool Passage::take_from_agent(const wire::Frame& pdu) {
  if (pdu.type == wire::PduType::Welcome)
    if (const auto welcome = wire::decode_welcome(pdu.payload)) take_welcome(*welcome);
  if (pdu.type != wire::PduType::BatchAck || trigger_ != Trigger::Answer || --countdown_ != 0)
    return false;
  ++proxy_.figures_.answers_lost;
  return true;
}

// Resends the PDUs that the agent has applied, before the client sends anything: a client that
// missed the WELCOME would do the same. PDUs that only an earlier agent has applied are dropped: no
// client sends them without their TAGS.
void Passage::take_welcome(const wire::Welcome& welcome) {
  if (session_ == nullptr) return;
  replay(session_->batches, welcome.last_sequence);
  replay(session_->events, welcome.last_events);
  write(up_);
}

void Passage::replay(Proxy::Session::Series& series, std::uint64_t until) {
  std::erase_if(series.last, [&](const auto& pdu) { return pdu.first > until; });
  if (!replays_) return;
  for (const auto& [sequence, bytes] : series.last) {
    up_.held += bytes;
    ++proxy_.figures_.replayed;
  }
}

void Passage::write(Way& way) {
  if (is_over_ || way.writing || way.held.empty()) return;
  std::size_t bytes = way.held.size();
  Milliseconds delay{0};
  switch (style_) {
    case Style::Plain:
      break;
    case Style::Crumbs:
      bytes = std::min(bytes, random_.between(1, 40));
      break;
    case Style::Pieces:
      bytes = std::min(bytes, random_.between(1, 2000));
      delay = Milliseconds(random_.between(0, 10));
      break;
    case Style::Merged:
      delay = Milliseconds(random_.between(10, 60));
      bytes = SIZE_MAX;  // and all bytes that arrive meanwhile
      break;
  }
  way.writing = true;
  way.timer.expires_after(delay);
  way.timer.async_wait([this, self = shared_from_this(), &way, bytes](const asio::error_code&) {
    if (is_over_) return;
    const std::size_t some = std::min(bytes, way.held.size());
    way.leaving = way.held.substr(0, some);
    way.held.erase(0, some);
    asio::async_write(way.sink, asio::buffer(way.leaving),
                      [this, self, &way](const asio::error_code& error, std::size_t) {
                        way.writing = false;
                        if (is_over_) return;
                        if (error) {
                          way.held.clear();
                          way.ended = way.swallows = true;
                        }
                        if (way.ended) return way.held.empty() ? finish(way) : write(way);
                        pump(way);
                      });
  });
}

// Ends the sink's direction, after all bytes of the source.
void Passage::finish(Way& way) {
  if (way.writing || !way.held.empty()) return write(way);
  if (is_faulty_) return;
  shut(way.sink);
  if (up_.ended && down_.ended && !up_.writing && !down_.writing && up_.held.empty() &&
      down_.held.empty())
    leave();
}

void Passage::strike() {
  trigger_ = Trigger::Never;
  ++proxy_.figures_.faults;
  const Milliseconds while_it_lasts(random_.between(5, 400));
  is_faulty_ = misfortune_ != Misfortune::Pause;
  switch (misfortune_) {
    case Misfortune::Cut:
      // Held bytes may still be written before the cut.
      write(up_);
      return later(Milliseconds(random_.between(0, 5)), &Passage::leave);
    case Misfortune::HalfClosed:
      shut(random_.chance(50) ? client_ : agent_);
      return later(while_it_lasts, &Passage::leave);
    case Misfortune::LateWords:
      close(client_, random_.chance(50));
      up_.ended = down_.ended = true;
      down_.held.clear();
      return later(while_it_lasts, &Passage::leave);
    case Misfortune::Pause:
      up_.stalled = down_.stalled = true;
      return later(while_it_lasts, &Passage::resume);
    case Misfortune::BlackHole:
      up_.stalled = down_.stalled = true;
      return later(while_it_lasts, &Passage::leave);
    case Misfortune::Swallowed:
      (random_.chance(50) ? up_ : down_).swallows = true;
      return later(while_it_lasts, &Passage::leave);
    case Misfortune::AgentGone:
      close(agent_, random_.chance(50));
      up_.swallows = true;
      down_.ended = true;
      return later(while_it_lasts, &Passage::leave);
  }
}

void Passage::resume() {
  up_.stalled = down_.stalled = false;
  if (!agent_.is_open()) return;
  pump(up_);
  pump(down_);
}

void Passage::leave() {
  if (is_over_) return;
  const auto self = shared_from_this();
  end();
  proxy_.passages_.erase(self);
}

void Passage::end() {
  is_over_ = true;
  close(client_, random_.chance(50));
  close(agent_, random_.chance(50));
  up_.timer.cancel();
  down_.timer.cancel();
  timer_.cancel();
}

}  // namespace pcp::trace::chaos
