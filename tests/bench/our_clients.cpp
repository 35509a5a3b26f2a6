// SPDX-License-Identifier: LGPL-2.1-or-later
// Loads an agent as programs with our library do, each of them for a million events a second and
// all from one process: connections of version 2 that send a batch every 100 ms, with 100 tags of
// all types, histograms of log-normal times among them, and read the acknowledgements. Prints the
// acknowledged calls and sums of values by type, the batches, their bytes, and the mean number of
// occupied bins of a histogram. The options:
//
//   --socket PATH    the agent's Unix socket
//   --clients N      connections (100)
//   --tags N         tags in each batch (100)
//   --events N       events in each batch (100000)
//   --interval MS    from one batch of a client to its next (100)
//   --own-tags       each client has tags of its own; else all have the same
//   --labels         tags have two labels, one of them for the client
//   --spread FACTOR  times are so many times as far apart (1)
//   --seconds S      duration (5)
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <asio/buffer.hpp>
#include <asio/io_context.hpp>
#include <asio/local/stream_protocol.hpp>
#include <asio/read.hpp>
#include <asio/steady_timer.hpp>
#include <asio/write.hpp>

#include "load_batch.hpp"
#include "wire/batch.hpp"
#include "wire/frame.hpp"
#include "wire/legacy.hpp"

namespace pcp::trace::bench {

namespace {

using Clock = std::chrono::steady_clock;
using Socket = asio::local::stream_protocol::socket;

struct Options {
  std::string path;
  int clients = 100;
  double seconds = 5;
  std::chrono::milliseconds interval{100};
  BatchShape shape;
  bool own_tags = false;
};

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "our_clients: %s\n", what.c_str());
  std::exit(1);
}

void check(const asio::error_code& error, const char* what) {
  if (error) fail(std::string(what) + ": " + error.message());
}

// One traced program. Talks with the agent until `end`, then waits for the last acknowledgement and
// says BYE.
class Client {
 public:
  Client(asio::io_context& io, const Options& options, const std::vector<LoadBatch>& batches,
         int number)
      : socket_(io), timer_(io), options_(options), batches_(batches), number_(number) {}

  // The clients' first batches are spread over the interval.
  void start(Clock::time_point begin, Clock::time_point end) {
    next_ = begin + options_.interval * number_ / options_.clients;
    end_ = end;
    asio::error_code error;
    socket_.connect(asio::local::stream_protocol::endpoint(options_.path), error);
    check(error, "connect");
    wire::append_hello(out_, pid(), hello());
    LoadBatch::append_tags(out_, pid(), options_.shape, options_.own_tags ? number_ : 0);
    asio::write(socket_, asio::buffer(out_), error);
    check(error, "write");
    read();
  }

  const LoadTotals& totals() const { return acknowledged_; }

 private:
  static std::uint32_t pid() { return static_cast<std::uint32_t>(::getpid()); }

  wire::Hello hello() const {
    wire::Hello hello;
    std::random_device random;
    for (auto& byte : hello.session) byte = static_cast<std::uint8_t>(random());
    hello.pid = pid();
    hello.process = "client " + std::to_string(number_);
    hello.service = "load";
    return hello;
  }

  void read() {
    socket_.async_read_some(asio::buffer(reader_.prepare(kReadBytes), kReadBytes),
                            [this](const asio::error_code& error, std::size_t bytes) {
                              if (said_bye_) return;
                              check(error, "read");
                              reader_.commit(bytes);
                              wire::Frame frame;
                              while (reader_.next(frame) == wire::FrameReader::Status::Frame)
                                take(frame);
                              read();
                            });
  }

  void take(const wire::Frame& frame) {
    switch (frame.type) {
      case wire::PduType::Ack:
        if (wire::decode_ack(frame.payload) != static_cast<std::int32_t>(wire::kBatchVersion))
          fail("the agent does not speak version 2");
        break;
      case wire::PduType::Welcome:
        wait();
        break;
      case wire::PduType::BatchAck:
        if (wire::decode_batch_ack(frame.payload) != sequence_) fail("a wrong acknowledgement");
        acknowledged_.add(batch().totals);
        wait();
        break;
      default:
        fail("the agent has said something unexpected");
    }
  }

  // Waits for the time of the next batch, if there is one. The first batch is always sent.
  void wait() {
    if (sequence_ > 0 && (next_ >= end_ || Clock::now() >= end_)) return leave();
    timer_.expires_at(next_);
    timer_.async_wait([this](const asio::error_code&) { send(); });
    next_ += options_.interval;
  }

  void send() {
    ++sequence_;
    wire::ClientCounters counters;
    counters.recorded = acknowledged_.records() + batch().totals.records();
    counters.sent = counters.recorded;
    const auto interval =
        static_cast<std::uint64_t>(std::chrono::nanoseconds(options_.interval).count());
    out_.clear();
    wire::append_batch(out_, pid(), sequence_, {{interval, 0}, counters}, batch().body);
    write();
  }

  void leave() {
    said_bye_ = true;
    out_.clear();
    wire::append_bye(out_, pid(), wire::ByeReason::Done);
    write();
  }

  void write() {
    asio::async_write(socket_, asio::buffer(out_),
                      [this](const asio::error_code& error, std::size_t) {
                        check(error, "write");
                        if (said_bye_) socket_.close();
                      });
  }

  const LoadBatch& batch() const {
    return batches_[(sequence_ + static_cast<std::uint64_t>(number_)) % batches_.size()];
  }

  static constexpr std::size_t kReadBytes = 4096;

  Socket socket_;
  asio::steady_timer timer_;
  const Options& options_;
  const std::vector<LoadBatch>& batches_;
  const int number_;
  Clock::time_point next_;
  Clock::time_point end_;
  wire::FrameReader reader_{wire::kLeastMaxPduBytes};
  std::string out_;
  std::uint64_t sequence_ = 0;  // of the last batch, sent or acknowledged
  LoadTotals acknowledged_;
  bool said_bye_ = false;
};

double number(const char* text) {
  const double value = std::atof(text);
  if (value <= 0) fail(std::string(text) + " is no number above 0");
  return value;
}

Options parse_options(int argc, char** argv) {
  Options options;
  const auto sets = [](auto& option) {
    return [&option](const char* text) {
      option = static_cast<std::decay_t<decltype(option)>>(number(text));
    };
  };
  double interval_ms = 100;
  const std::map<std::string_view, std::function<void(const char*)>> with_value{
      {"--socket", [&](const char* text) { options.path = text; }},
      {"--clients", sets(options.clients)},
      {"--tags", sets(options.shape.tags)},
      {"--events", sets(options.shape.events)},
      {"--interval", sets(interval_ms)},
      {"--spread", sets(options.shape.spread)},
      {"--seconds", sets(options.seconds)}};
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const auto found = with_value.find(word);
    if (word == "--own-tags")
      options.own_tags = true;
    else if (word == "--labels")
      options.shape.labels = true;
    else if (found != with_value.end() && i + 1 < argc)
      found->second(argv[++i]);
    else
      fail("no such option: " + std::string(word));
  }
  options.interval = std::chrono::milliseconds(static_cast<int>(interval_ms));
  if (options.path.empty()) fail("--socket is missing");
  return options;
}

void print(const LoadTotals& totals) {
  for (const TraceType type : kTraceTypes)
    std::printf("%s %llu\n", LoadTotals::name(type),
                static_cast<unsigned long long>(totals.counts[index_of(type)]));
  std::printf("transact_sum %.17g\nobserve_sum %.17g\n", totals.sums[index_of(TraceType::Transact)],
              totals.sums[index_of(TraceType::Observe)]);
  std::printf("batches %llu\nbytes %llu\n", static_cast<unsigned long long>(totals.batches),
              static_cast<unsigned long long>(totals.bytes));
  std::printf("bins %.1f\n", totals.mean_bins());
}

void run(const Options& options) {
  // Several, so that the caches do not always see the same bytes.
  constexpr int kBatches = 16;
  std::vector<LoadBatch> batches;
  for (int i = 0; i < kBatches; ++i) batches.emplace_back(options.shape, i);

  asio::io_context io{1};
  std::vector<std::unique_ptr<Client>> clients;
  const auto begin = Clock::now();
  const auto end = begin + std::chrono::duration_cast<Clock::duration>(
                               std::chrono::duration<double>(options.seconds));
  for (int i = 0; i < options.clients; ++i) {
    clients.push_back(std::make_unique<Client>(io, options, batches, i));
    clients.back()->start(begin, end);
  }
  io.run();
  LoadTotals totals;
  for (const auto& client : clients) totals.add(client->totals());
  print(totals);
}

}  // namespace

}  // namespace pcp::trace::bench

int main(int argc, char** argv) {
  pcp::trace::bench::run(pcp::trace::bench::parse_options(argc, argv));
  return 0;
}
