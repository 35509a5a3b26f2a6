// SPDX-License-Identifier: LGPL-2.1-or-later
// Sends spans to an agent as programs at their capture limit do, all from one process. Flat out:
// EVENTS as soon as the last one is acknowledged; the clients first wait for a capture of
// bench.asked, and at the end for an acknowledgement, even beyond SECONDS. Paced: as many spans as
// the agent allows, every 100 ms. Prints the acknowledged spans, and the rate that the agent allows
// in the end.
//
//   span_clients SOCKET CLIENTS SECONDS flat-out|paced
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <asio/buffer.hpp>
#include <asio/io_context.hpp>
#include <asio/local/stream_protocol.hpp>
#include <asio/steady_timer.hpp>
#include <asio/write.hpp>

#include "wire/batch.hpp"
#include "wire/events.hpp"
#include "wire/frame.hpp"

namespace pcp::trace::bench {

namespace {

using Clock = std::chrono::steady_clock;
using Socket = asio::local::stream_protocol::socket;

constexpr std::chrono::milliseconds kInterval{100};
constexpr std::uint32_t kTag = 1;

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "span_clients: %s\n", what.c_str());
  std::exit(1);
}

void check(const asio::error_code& error, const char* what) {
  if (error) fail(std::string(what) + ": " + error.message());
}

class Client {
 public:
  Client(asio::io_context& io, int number, bool is_paced)
      : socket_(io), timer_(io), random_(static_cast<std::uint64_t>(number)), is_paced_(is_paced) {}

  void start(const std::string& path, Clock::time_point end) {
    end_ = end;
    next_ = Clock::now() + kInterval * (random_() % 100) / 100;
    asio::error_code error;
    socket_.connect(asio::local::stream_protocol::endpoint(path), error);
    check(error, "connect");
    wire::Hello hello;
    std::random_device device;
    for (auto& byte : hello.session) byte = static_cast<std::uint8_t>(device());
    hello.pid = pid();
    hello.process = "span_clients";
    wire::append_hello(out_, pid(), hello);
    wire::append_tags(out_, pid(), {{kTag, "bench.asked"}});
    asio::write(socket_, asio::buffer(out_), error);
    check(error, "write");
    read();
    if (!is_paced_) return;
    timer_.expires_at(end);  // in case nobody captures
    timer_.async_wait([this](const asio::error_code& cancelled) {
      if (!cancelled) leave();
    });
  }

  std::uint64_t spans() const { return acknowledged_; }
  std::uint64_t bytes() const { return bytes_; }
  std::uint64_t allowed() const { return most_a_second_; }

 private:
  static std::uint32_t pid() { return static_cast<std::uint32_t>(::getpid()); }

  void read() {
    socket_.async_read_some(
        asio::buffer(reader_.prepare(kReadBytes), kReadBytes),
        [this](const asio::error_code& error, std::size_t bytes) {
          if (has_left_) return;
          check(error, "read");
          reader_.commit(bytes);
          wire::Frame frame;
          while (!has_left_ && reader_.next(frame) == wire::FrameReader::Status::Frame) take(frame);
          if (!has_left_) read();
        });
  }

  void take(const wire::Frame& frame) {
    if (frame.type == wire::PduType::Welcome) {
      if (const auto welcome = wire::decode_welcome(frame.payload)) take_control(welcome->control);
    } else if (frame.type == wire::PduType::Control) {
      take_control(wire::decode_control(frame.payload));
    } else if (frame.type == wire::PduType::EventsAck) {
      if (wire::decode_events_ack(frame.payload) != sequence_) fail("a wrong acknowledgement");
      acknowledged_ += sent_;
      go_on();
    }
  }

  void take_control(const std::optional<wire::Control>& control) {
    if (!control || control->captures.empty()) return;
    const bool is_first = control_ == 0;
    control_ = control->number;
    most_a_second_ = control->most_a_second;
    bits_ = std::uint32_t{1} << control->captures.front().bit;
    if (is_first) go_on();
  }

  void go_on() {
    if (Clock::now() >= end_ && (is_paced_ || acknowledged_ > 0)) return leave();
    if (!is_paced_) return send();
    timer_.expires_at(next_);
    next_ = std::max(next_ + kInterval, Clock::now());
    timer_.async_wait([this](const asio::error_code& cancelled) {
      if (!cancelled) send();
    });
  }

  // Leaves room for a largest span, as programs do.
  void send() {
    constexpr std::size_t kMost =
        wire::kMaxEventsPduBytes - wire::kEventsOverheadBytes - wire::kMaxSpanBytes;
    const std::uint64_t most = is_paced_ ? std::max<std::uint32_t>(most_a_second_ / 10, 1) : 10'000;
    std::string body;
    for (sent_ = 0; sent_ < most && body.size() < kMost; ++sent_) append_span(body);
    ++sequence_;
    bytes_ += body.size();
    out_.clear();
    wire::append_events(out_, pid(), sequence_, control_, {}, body);
    asio::async_write(socket_, asio::buffer(out_),
                      [](const asio::error_code& error, std::size_t) { check(error, "write"); });
  }

  void append_span(std::string& body) {
    wire::Span span;
    span.tag_id = kTag;
    span.begin_ns = 1'800'000'000'000'000'000 + random_() % 1'000'000'000;
    span.duration_ns = random_() % 10'000'000;
    span.trace = {random_(), random_()};
    span.span = random_();
    span.parent = random_();
    span.tid = pid();
    span.capture_bits = bits_;
    wire::append_span(body, span);
  }

  void leave() {
    has_left_ = true;
    socket_.close();
  }

  static constexpr std::size_t kReadBytes = 4096;

  Socket socket_;
  asio::steady_timer timer_;
  std::mt19937_64 random_;
  const bool is_paced_;
  Clock::time_point next_;
  Clock::time_point end_;
  wire::FrameReader reader_{wire::kLeastMaxPduBytes};
  std::string out_;
  std::uint64_t sequence_ = 0;
  std::uint64_t control_ = 0;  // number of the capture; 0: none yet
  std::uint32_t most_a_second_ = 0;
  std::uint32_t bits_ = 0;
  std::uint64_t sent_ = 0;  // not yet acknowledged
  std::uint64_t acknowledged_ = 0;
  std::uint64_t bytes_ = 0;
  bool has_left_ = false;
};

void run(const std::string& path, int count, double seconds, bool is_paced) {
  asio::io_context io{1};
  const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                      std::chrono::duration<double>(seconds));
  std::vector<std::unique_ptr<Client>> clients;
  for (int number = 0; number < count; ++number) {
    clients.push_back(std::make_unique<Client>(io, number, is_paced));
    clients.back()->start(path, end);
  }
  io.run();
  std::uint64_t spans = 0;
  std::uint64_t bytes = 0;
  std::uint64_t allowed = 0;
  for (const auto& client : clients) {
    spans += client->spans();
    bytes += client->bytes();
    allowed += client->allowed();
  }
  std::printf("spans %llu\nbytes %llu\nallowed %llu\n", static_cast<unsigned long long>(spans),
              static_cast<unsigned long long>(bytes), static_cast<unsigned long long>(allowed));
}

}  // namespace

}  // namespace pcp::trace::bench

int main(int argc, char** argv) {
  if (argc != 5) {
    std::fputs("usage: span_clients SOCKET CLIENTS SECONDS flat-out|paced\n", stderr);
    return 1;
  }
  pcp::trace::bench::run(argv[1], std::atoi(argv[2]), std::atof(argv[3]),
                         std::strcmp(argv[4], "paced") == 0);
  return 0;
}
