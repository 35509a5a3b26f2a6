// SPDX-License-Identifier: LGPL-2.1-or-later
#include "chaos/proxy.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>

#include <asio/generic/stream_protocol.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/local/stream_protocol.hpp>
#include <asio/steady_timer.hpp>
#include <asio/write.hpp>

#include "wire/events.hpp"
#include "wire/frame.hpp"

namespace pcp::trace::chaos {
namespace {

using Milliseconds = std::chrono::milliseconds;
using Socket = asio::generic::stream_protocol::socket;

constexpr std::size_t kMostHeld = 64 * 1024;
constexpr std::size_t kKept = 8;

// Closes the socket; `with_reset`: the peer gets a reset.
void close(Socket& socket, bool with_reset) {
  if (!socket.is_open()) return;
  const linger at_once{1, 0};
  if (with_reset)
    ::setsockopt(socket.native_handle(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  asio::error_code ignored;
  socket.close(ignored);
}

void shut(Socket& socket) {
  if (socket.is_open()) ::shutdown(socket.native_handle(), SHUT_WR);
}

void send_at_once(Socket& socket) {
  const int yes = 1;  // fails on a Unix socket
  ::setsockopt(socket.native_handle(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
}

using Endpoint = asio::generic::stream_protocol::endpoint;

Endpoint endpoint_of(const std::string& path, std::uint16_t port) {
  if (!path.empty()) return asio::local::stream_protocol::endpoint(path);
  return asio::ip::tcp::endpoint(asio::ip::address_v4::loopback(), port);
}

}  // namespace

// One connection through the proxy, and its fault.
class Passage : public std::enable_shared_from_this<Passage> {
 public:
  Passage(Proxy& proxy, Socket client, bool is_tcp, Random random)
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

  void begin() {
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

  void calm_down() {
    trigger_ = Trigger::Never;
    style_ = Style::Plain;
    replays_ = false;
    if (is_faulty_ || opening_ == Opening::NeverAnswered) return leave();
    timer_.cancel();
    resume();
  }

  // Cuts the connection at once.
  void end() {
    is_over_ = true;
    close(client_, random_.chance(50));
    close(agent_, random_.chance(50));
    up_.timer.cancel();
    down_.timer.cancel();
    timer_.cancel();
  }

 private:
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

  void pump(Way& way) { read(way), write(way); }

  void connect() {
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

  void later(Milliseconds delay, void (Passage::*what)()) {
    timer_.expires_after(delay);
    timer_.async_wait([this, self = shared_from_this(), what](const asio::error_code& cancelled) {
      if (!cancelled && !is_over_) (this->*what)();
    });
  }

  void read(Way& way) {
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

  void take(Way& way, std::string_view bytes) {
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

  bool triggered(Way& way, std::string_view bytes) {
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

  // This function and take_from_agent() give true if the connection breaks at this PDU.
  bool take_from_client(const wire::Frame& pdu) {
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

  void note(const wire::Frame& pdu, std::uint64_t sequence, Proxy::Session::Series& series) {
    if (sequence <= series.highest) ++proxy_.figures_.resent;
    series.highest = std::max(series.highest, sequence);
    wire::append_frame(series.last.emplace_back(sequence, std::string()).second, pdu.type, pdu.pid,
                       pdu.payload);
    if (series.last.size() > kKept) series.last.pop_front();
  }

  bool take_from_agent(const wire::Frame& pdu) {
    if (pdu.type == wire::PduType::Welcome)
      if (const auto welcome = wire::decode_welcome(pdu.payload)) take_welcome(*welcome);
    if (pdu.type != wire::PduType::BatchAck || trigger_ != Trigger::Answer || --countdown_ != 0)
      return false;
    ++proxy_.figures_.answers_lost;
    return true;
  }

  // Resends the PDUs that the agent has applied, before the client sends anything: a client that
  // missed the WELCOME would do the same. PDUs that only an earlier agent has applied are dropped:
  // no client sends them without their TAGS.
  void take_welcome(const wire::Welcome& welcome) {
    if (session_ == nullptr) return;
    replay(session_->batches, welcome.last_sequence);
    replay(session_->events, welcome.last_events);
    write(up_);
  }

  void replay(Proxy::Session::Series& series, std::uint64_t until) {
    std::erase_if(series.last, [&](const auto& pdu) { return pdu.first > until; });
    if (!replays_) return;
    for (const auto& [sequence, bytes] : series.last) {
      up_.held += bytes;
      ++proxy_.figures_.replayed;
    }
  }

  void write(Way& way) {
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
  void finish(Way& way) {
    if (way.writing || !way.held.empty()) return write(way);
    if (is_faulty_) return;
    shut(way.sink);
    if (up_.ended && down_.ended && !up_.writing && !down_.writing && up_.held.empty() &&
        down_.held.empty())
      leave();
  }

  void strike() {
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

  void resume() {
    up_.stalled = down_.stalled = false;
    if (!agent_.is_open()) return;
    pump(up_);
    pump(down_);
  }

  void leave() {
    if (is_over_) return;
    const auto self = shared_from_this();
    end();
    proxy_.passages_.erase(self);
  }

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

Door open_door(const std::string& path) {
  Endpoint address = endpoint_of(path, 0);
  auto length = static_cast<socklen_t>(address.capacity());
  const int listener =
      ::socket(address.protocol().family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (listener < 0 ||
      ::bind(listener, address.data(), static_cast<socklen_t>(address.size())) != 0 ||
      ::listen(listener, 64) != 0 || ::getsockname(listener, address.data(), &length) != 0)
    std::abort();
  const auto& tcp = *reinterpret_cast<const sockaddr_in*>(address.data());
  return {listener, path, path.empty() ? ntohs(tcp.sin_port) : std::uint16_t{0}};
}

Proxy::Proxy(asio::io_context& loop, std::uint64_t seed, const std::vector<Door>& doors,
             Figures& figures)
    : loop_(loop),
      seed_(seed),
      doors_(doors),
      accepted_(doors.size()),
      knocked_(doors.size()),
      figures_(figures) {
  for (const Door& door : doors) listeners_.emplace_back(loop, door.listener);
  for (std::size_t client = 0; client < doors.size(); ++client) accept(client);
}

Proxy::~Proxy() { cut_all(); }

void Proxy::set_agent(const std::string& socket_path, std::uint16_t port) {
  agent_path_ = socket_path;
  agent_port_ = port;
}

void Proxy::accept(std::size_t client) {
  listeners_[client].async_wait(
      asio::posix::stream_descriptor::wait_read, [this, client](const asio::error_code& error) {
        if (error) return;
        const int socket = ::accept4(listeners_[client].native_handle(), nullptr, nullptr,
                                     SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (socket >= 0) {
          ++figures_.connections;
          knocked_[client] = true;
          const bool is_tcp = doors_[client].socket_path.empty();
          const std::uint64_t stream = 1000 + client * 100'000 + accepted_[client]++;
          const auto passage = std::make_shared<Passage>(
              *this, Socket(loop_, {is_tcp ? AF_INET : AF_UNIX, 0}, socket), is_tcp,
              Random(seed_, stream));
          passages_.insert(passage);
          passage->begin();
        }
        accept(client);
      });
}

void Proxy::go_away() {
  is_away_ = true;
  cut_all();
  knocked_.assign(knocked_.size(), false);
}

void Proxy::calm_down() {
  is_calm_ = true;
  const auto all = passages_;  // a copy: some passages remove themselves
  for (const auto& passage : all) passage->calm_down();
}

void Proxy::cut_all() {
  for (const auto& passage : passages_) passage->end();
  passages_.clear();
}

}  // namespace pcp::trace::chaos
