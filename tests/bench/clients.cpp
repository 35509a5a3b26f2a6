// SPDX-License-Identifier: LGPL-2.1-or-later
// Loads an agent as programs with our library do, all from one process:
//
//   clients SOCKET batches|spans [NAME=NUMBER]...
//
//   clients   connections (100)
//   seconds   duration (5)
//
// Batches: each connection is a program with a million events a second, which sends a batch of a
// hundred tags of all types, histograms among them, and waits for the acknowledgement. Prints the
// acknowledged calls and sums of values by type, the batches, their bytes, and the mean number of
// occupied bins of a histogram.
//
//   tags      in each batch (100)
//   events    in each batch (100000)
//   interval  milliseconds from one batch of a client to its next (100)
//   own       1: each client has tags of its own; else all have the same
//   labels    1: tags have two labels, one of them for the client
//   spread    times are so many times as far apart (1)
//
// Spans: as many as the agent allows, each interval; or flat out: the next ones as soon as the last
// ones are acknowledged. The clients first wait for a capture of bench.asked, flat out even beyond
// the end. Prints the acknowledged spans, their bytes, and the rate that the agent allows.
//
//   flat-out  1: as said
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <stdexcept>
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
#include "wire/legacy.hpp"

namespace {

using namespace pcp::trace;
using Clock = std::chrono::steady_clock;
using Numbers = std::map<std::string, double>;

const auto kPid = static_cast<std::uint32_t>(::getpid());

Clock::duration seconds(double number) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(number));
}

void add(const Numbers& more, Numbers& sum) {
  for (const auto& [name, number] : more) sum[name] += number;
}

void require(bool good, const char* what) {
  if (!good) throw std::runtime_error(what);
}

// One traced program: connects, says hello, and goes on until `end`.
class Client {
 public:
  Client(asio::io_context& io, const std::string& path, const Numbers& options, int number)
      : options_(options),
        number_(number),
        interval_(seconds(options.at("interval") / 1000)),
        end_(Clock::now() + seconds(options.at("seconds"))),
        // The clients' first times are spread over the interval.
        next_(Clock::now() + interval_ * number / static_cast<int>(options.at("clients"))),
        socket_(io),
        timer_(io) {
    socket_.connect(asio::local::stream_protocol::endpoint(path));
  }
  virtual ~Client() = default;

  void start() {
    wire::Hello hello;
    std::random_device random;
    for (auto& byte : hello.session) byte = static_cast<std::uint8_t>(random());
    hello.pid = kPid;
    hello.process = "client " + std::to_string(number_);
    hello.service = "load";
    std::string out;
    wire::append_hello(out, kPid, hello);
    append_tags(out);
    asio::write(socket_, asio::buffer(out));
    read();
  }

  const Numbers& totals() const { return totals_; }

 protected:
  virtual void append_tags(std::string& out) const = 0;
  virtual void take(const wire::Frame& frame) = 0;
  virtual void send() = 0;

  double option(const char* name) const { return options_.at(name); }

  void send_next() {
    timer_.expires_at(next_);
    timer_.async_wait([this](const asio::error_code& cancelled) {
      if (!cancelled) send();
    });
    next_ += interval_;
  }

  void leave_at_end() {
    timer_.expires_at(end_);
    timer_.async_wait([this](const asio::error_code& cancelled) {
      if (!cancelled) leave();
    });
  }

  void leave() {
    has_left_ = true;
    out_.clear();
    wire::append_bye(out_, kPid, wire::ByeReason::Done);
    write();
  }

  void write() {
    asio::async_write(socket_, asio::buffer(out_),
                      [this](const asio::error_code& error, std::size_t) {
                        if (error) throw asio::system_error(error, "write");
                        if (has_left_) socket_.close();
                      });
  }

  const Numbers& options_;
  const int number_;
  const Clock::duration interval_;
  const Clock::time_point end_;
  Clock::time_point next_;
  std::string out_;
  std::uint64_t sequence_ = 0;  // of the last PDU, sent or acknowledged
  Numbers totals_;

 private:
  void read() {
    constexpr std::size_t kBytes = 4096;
    socket_.async_read_some(
        asio::buffer(reader_.prepare(kBytes), kBytes),
        [this](const asio::error_code& error, std::size_t bytes) {
          if (has_left_) return;
          if (error) throw asio::system_error(error, "read");
          reader_.commit(bytes);
          wire::Frame frame;
          while (!has_left_ && reader_.next(frame) == wire::FrameReader::Status::Frame) take(frame);
          if (!has_left_) read();
        });
  }

  asio::local::stream_protocol::socket socket_;
  asio::steady_timer timer_;
  wire::FrameReader reader_{wire::kLeastMaxPduBytes};
  bool has_left_ = false;
};

// A batch of a busy program, made in advance, so that sending it costs little.
struct Batch {
  std::string body;
  Numbers totals;
};

std::vector<Batch> batches;  // several, so that the caches do not always see the same bytes

const char* name_of(TraceType type) {
  constexpr const char* kNames[] = {"transact", "point", "observe", "counter"};
  return kNames[index_of(type)];
}

// Four of ten tags are transactions, three observations, two points, and one is a counter; each has
// the same number of events. Times are log-normal, most of them within 30% of their tag's middle.
Batch make_batch(const Numbers& options, unsigned seed) {
  constexpr TraceType T = TraceType::Transact, O = TraceType::Observe, P = TraceType::Point;
  constexpr TraceType kTypes[] = {T, O, T, P, O, T, P, T, O, TraceType::Counter};
  std::mt19937_64 random(seed + 1);
  Batch made;
  const auto tags = static_cast<std::uint32_t>(options.at("tags"));
  for (std::uint32_t tag = 0; tag < tags; ++tag) {
    const TraceType type = kTypes[tag % 10];
    const double middle = std::ldexp(1e-3, static_cast<int>(tag % 12) - 3);
    std::lognormal_distribution<double> times(std::log(middle),
                                              options.at("spread") * (0.15 + 0.02 * (tag % 8)));
    Delta delta;
    Histogram histogram;
    std::set<std::uint64_t> bins;
    for (double events = std::max(1.0, options.at("events") / tags); events >= 1; --events) {
      // Rounded to few bits, so that sums of many are exact.
      const double value = std::round(std::ldexp(times(random), 24)) / std::ldexp(1, 24);
      delta.add(value);
      if (!has_histogram(type)) continue;
      histogram.add(value);
      bins.insert(std::bit_cast<std::uint64_t>(value) >> 47);
    }
    wire::append_delta(made.body, tag + 1, type, delta, histogram);
    add({{name_of(type), static_cast<double>(delta.count)},
         {std::string(name_of(type)) + "_sum", delta.sum},
         {"recorded", static_cast<double>(delta.count)},
         {"histograms", has_histogram(type) ? 1 : 0},
         {"bins", static_cast<double>(bins.size())}},
        made.totals);
  }
  add({{"batches", 1}, {"bytes", static_cast<double>(made.body.size())}}, made.totals);
  return made;
}

class BatchClient : public Client {
 public:
  using Client::Client;

 private:
  void append_tags(std::string& out) const override {
    const std::string owner = std::to_string(option("own") > 0 ? number_ : 0);
    std::vector<std::string> names;
    std::vector<wire::TagDefinition> definitions;
    for (int tag = 0; tag < static_cast<int>(option("tags")); ++tag)
      names.push_back(option("labels") > 0
                          ? "load." + std::to_string(tag) + "{owner=" + owner + ";route=/cart}"
                          : "load." + owner + "." + std::to_string(tag));
    for (const std::string& name : names)
      definitions.push_back({static_cast<std::uint32_t>(definitions.size() + 1), name});
    wire::append_tags(out, kPid, definitions);
  }

  void take(const wire::Frame& frame) override {
    if (frame.type == wire::PduType::Ack)
      return require(
          wire::decode_ack(frame.payload) == static_cast<std::int32_t>(wire::kBatchVersion),
          "the agent does not speak version 2");
    if (frame.type == wire::PduType::BatchAck) {
      require(wire::decode_batch_ack(frame.payload) == sequence_, "a wrong acknowledgement");
      add(batch().totals, totals_);
      if (next_ >= end_ || Clock::now() >= end_) return leave();
    } else {
      require(frame.type == wire::PduType::Welcome, "the agent has said something unexpected");
    }
    send_next();  // the first batch is always sent
  }

  void send() override {
    ++sequence_;
    wire::ClientCounters counters;
    counters.recorded =
        static_cast<std::uint64_t>(totals_["recorded"] + batch().totals.at("recorded"));
    counters.sent = counters.recorded;
    const auto age = static_cast<std::uint64_t>(std::chrono::nanoseconds(interval_).count());
    out_.clear();
    wire::append_batch(out_, kPid, sequence_, {{age, 0}, counters}, batch().body);
    write();
  }

  const Batch& batch() const {
    return batches[(sequence_ + static_cast<std::uint64_t>(number_)) % batches.size()];
  }
};

class SpanClient : public Client {
 public:
  SpanClient(asio::io_context& io, const std::string& path, const Numbers& options, int number)
      : Client(io, path, options, number), random_(static_cast<std::uint64_t>(number)) {
    if (!is_flat_out_) leave_at_end();  // in case nobody captures
  }

 private:
  static constexpr std::uint32_t kTag = 1;

  void append_tags(std::string& out) const override {
    wire::append_tags(out, kPid, {{kTag, "bench.asked"}});
  }

  void take(const wire::Frame& frame) override {
    if (frame.type == wire::PduType::Welcome) {
      if (const auto welcome = wire::decode_welcome(frame.payload)) take_control(welcome->control);
    } else if (frame.type == wire::PduType::Control) {
      take_control(wire::decode_control(frame.payload));
    } else if (frame.type == wire::PduType::EventsAck) {
      require(wire::decode_events_ack(frame.payload) == sequence_, "a wrong acknowledgement");
      totals_["spans"] += sent_;
      go_on();
    }
  }

  void take_control(const std::optional<wire::Control>& control) {
    if (!control || control->captures.empty()) return;
    const bool is_first = control_ == 0;
    control_ = control->number;
    totals_["allowed"] = control->most_a_second;
    bits_ = std::uint32_t{1} << control->captures.front().bit;
    if (is_first) go_on();
  }

  void go_on() {
    if (Clock::now() >= end_ && (!is_flat_out_ || totals_["spans"] > 0)) return leave();
    if (is_flat_out_) return send();
    next_ = std::max(next_, Clock::now());
    send_next();
  }

  // Leaves room for a largest span, as programs do.
  void send() override {
    constexpr std::size_t kMost =
        wire::kMaxEventsPduBytes - wire::kEventsOverheadBytes - wire::kMaxSpanBytes;
    const double most = is_flat_out_ ? 10'000 : std::max(totals_["allowed"] / 10, 1.0);
    std::string body;
    for (sent_ = 0; sent_ + 1 <= most && body.size() < kMost; ++sent_) append_span(body);
    totals_["bytes"] += static_cast<double>(body.size());
    out_.clear();
    wire::append_events(out_, kPid, ++sequence_, control_, {}, body);
    write();
  }

  void append_span(std::string& body) {
    wire::Span span;
    span.tag_id = kTag;
    span.begin_ns = 1'800'000'000'000'000'000 + random_() % 1'000'000'000;
    span.duration_ns = random_() % 10'000'000;
    span.trace = {random_(), random_()};
    span.span = random_();
    span.parent = random_();
    span.tid = kPid;
    span.capture_bits = bits_;
    wire::append_span(body, span);
  }

  const bool is_flat_out_ = option("flat-out") > 0;
  std::mt19937_64 random_;
  std::uint64_t control_ = 0;  // number of the capture; 0: none yet
  std::uint32_t bits_ = 0;
  double sent_ = 0;  // not yet acknowledged
};

template <typename Kind>
void load(const std::string& path, const Numbers& options) {
  asio::io_context io{1};
  std::vector<std::unique_ptr<Kind>> clients;
  for (int number = 0; number < static_cast<int>(options.at("clients")); ++number) {
    clients.push_back(std::make_unique<Kind>(io, path, options, number));
    clients.back()->start();
  }
  io.run();
  Numbers totals;
  for (const auto& client : clients) add(client->totals(), totals);
  if (totals.contains("histograms")) totals["bins"] /= std::max(1.0, totals["histograms"]);
  for (const auto& [name, number] : totals) std::printf("%s %.17g\n", name.c_str(), number);
}

}  // namespace

int main(int argc, char** argv) {
  require(argc >= 3, "usage: clients SOCKET batches|spans [NAME=NUMBER]...");
  Numbers options{{"clients", 100},    {"seconds", 5},    {"tags", 100},
                  {"events", 100'000}, {"interval", 100}, {"own", 0},
                  {"labels", 0},       {"spread", 1},     {"flat-out", 0}};
  for (const std::string& word : std::vector<std::string>(argv + 3, argv + argc)) {
    const std::size_t equals = word.find('=');
    options.at(word.substr(0, equals)) = std::stod(word.substr(equals + 1));
  }
  if (argv[2] == std::string("spans")) {
    load<SpanClient>(argv[1], options);
  } else {
    for (unsigned seed = 0; seed < 16; ++seed) batches.push_back(make_batch(options, seed));
    load<BatchClient>(argv[1], options);
  }
  return 0;
}
