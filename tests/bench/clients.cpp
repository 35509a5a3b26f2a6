// SPDX-License-Identifier: LGPL-2.1-or-later
// Loads an agent as programs with our library do, each of them a thread of this process:
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
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include <asio/buffer.hpp>
#include <asio/io_context.hpp>
#include <asio/local/stream_protocol.hpp>
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

// A traced program's connection.
class Connection {
 public:
  Connection(const std::string& path, int number) {
    socket_.connect(asio::local::stream_protocol::endpoint(path));
    wire::Hello hello;
    std::random_device random;
    for (auto& byte : hello.session) byte = static_cast<std::uint8_t>(random());
    hello.pid = kPid;
    hello.process = "client " + std::to_string(number);
    hello.service = "load";
    send(wire::append_hello, hello);
  }

  // For example send(wire::append_batch_ack, 8).
  template <typename... Parameters>
  std::size_t send(void (*append)(std::string&, std::uint32_t, Parameters...),
                   std::type_identity_t<Parameters>... values) {
    std::string pdu;
    append(pdu, kPid, values...);
    return asio::write(socket_, asio::buffer(pdu));
  }

  // Waits for a PDU. False if none has come by then.
  bool read(wire::Frame& frame, Clock::time_point until = Clock::now() + seconds(60)) {
    constexpr std::size_t kBytes = 4096;
    while (reader_.next(frame) != wire::FrameReader::Status::Frame) {
      pollfd awaited{socket_.native_handle(), POLLIN, 0};
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
      if (::poll(&awaited, 1, static_cast<int>(std::max<std::int64_t>(left.count(), 0))) != 1)
        return false;
      reader_.commit(socket_.read_some(asio::buffer(reader_.prepare(kBytes), kBytes)));
    }
    return true;
  }

 private:
  asio::io_context io_{1};
  asio::local::stream_protocol::socket socket_{io_};
  wire::FrameReader reader_{wire::kLeastMaxPduBytes};
};

// When a program sends: it begins within an interval, by its number, and goes on until the end.
struct Times {
  Times(const Numbers& options, int number)
      : interval(seconds(options.at("interval") / 1000)),
        next(Clock::now() + interval * number / static_cast<int>(options.at("clients"))),
        end(Clock::now() + seconds(options.at("seconds"))) {}

  void wait() {
    std::this_thread::sleep_until(next);
    next += interval;
  }
  bool have_ended() const { return next >= end || Clock::now() >= end; }

  Clock::duration interval;
  Clock::time_point next;
  Clock::time_point end;
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

void define_tags(Connection& agent, const Numbers& options, int number) {
  const std::string owner = std::to_string(options.at("own") > 0 ? number : 0);
  std::vector<std::string> names;
  std::vector<wire::TagDefinition> definitions;
  for (int tag = 0; tag < static_cast<int>(options.at("tags")); ++tag)
    names.push_back(options.at("labels") > 0
                        ? "load." + std::to_string(tag) + "{owner=" + owner + ";route=/cart}"
                        : "load." + owner + "." + std::to_string(tag));
  for (const std::string& name : names)
    definitions.push_back({static_cast<std::uint32_t>(definitions.size() + 1), name});
  agent.send(wire::append_tags, definitions);
}

// Gives the totals of all that the agent has acknowledged: at least one batch.
Numbers send_batches(const std::string& path, const Numbers& options, int number) {
  Times times(options, number);
  Connection agent(path, number);
  define_tags(agent, options, number);
  wire::Frame frame;
  while (agent.read(frame) && frame.type == wire::PduType::Ack)
    require(wire::decode_ack(frame.payload) == static_cast<std::int32_t>(wire::kBatchVersion),
            "the agent does not speak version 2");
  require(frame.type == wire::PduType::Welcome, "the agent has no welcome");
  Numbers totals;
  const auto age = static_cast<std::uint64_t>(std::chrono::nanoseconds(times.interval).count());
  for (std::uint64_t sequence = 1; sequence == 1 || !times.have_ended(); ++sequence) {
    times.wait();
    const Batch& batch = batches[(sequence + static_cast<std::uint64_t>(number)) % batches.size()];
    wire::ClientCounters counters;
    counters.recorded =
        static_cast<std::uint64_t>(totals["recorded"] + batch.totals.at("recorded"));
    counters.sent = counters.recorded;
    agent.send(wire::append_batch, sequence, {{age, 0}, counters}, batch.body);
    require(agent.read(frame) && frame.type == wire::PduType::BatchAck &&
                wire::decode_batch_ack(frame.payload) == sequence,
            "no acknowledgement, or a wrong one");
    add(batch.totals, totals);
  }
  agent.send(wire::append_bye, wire::ByeReason::Done);
  return totals;
}

// The agent's allowance for a program: in the last CONTROL with a capture.
struct Allowed {
  void take(const wire::Frame& frame) {
    std::optional<wire::Control> control;
    if (frame.type == wire::PduType::Control) control = wire::decode_control(frame.payload);
    if (frame.type == wire::PduType::Welcome)
      if (const auto welcome = wire::decode_welcome(frame.payload)) control = welcome->control;
    if (!control || control->captures.empty()) return;
    number = control->number;
    a_second = control->most_a_second;
    bits = std::uint32_t{1} << control->captures.front().bit;
  }

  std::uint64_t number = 0;  // 0: none yet
  double a_second = 0;
  std::uint32_t bits = 0;
};

constexpr std::uint32_t kTag = 1;

std::string random_spans(std::mt19937_64& random, double most, std::uint32_t bits, double& count) {
  // Leaves room for a largest span, as programs do.
  constexpr std::size_t kMost =
      wire::kMaxEventsPduBytes - wire::kEventsOverheadBytes - wire::kMaxSpanBytes;
  std::string body;
  for (count = 0; count + 1 <= most && body.size() < kMost; ++count) {
    wire::Span span;
    span.tag_id = kTag;
    span.begin_ns = 1'800'000'000'000'000'000 + random() % 1'000'000'000;
    span.duration_ns = random() % 10'000'000;
    span.trace = {random(), random()};
    span.span = random();
    span.parent = random();
    span.tid = kPid;
    span.capture_bits = bits;
    wire::append_span(body, span);
  }
  return body;
}

Numbers send_spans(const std::string& path, const Numbers& options, int number) {
  const bool is_flat_out = options.at("flat-out") > 0;
  Times times(options, number);
  Connection agent(path, number);
  agent.send(wire::append_tags, {{kTag, "bench.asked"}});
  Allowed allowed;
  wire::Frame frame;
  const auto patience = is_flat_out ? times.end + seconds(60) : times.end;
  while (allowed.number == 0 && agent.read(frame, patience)) allowed.take(frame);
  std::mt19937_64 random(static_cast<std::uint64_t>(number));
  Numbers totals{{"allowed", 0}, {"bytes", 0}, {"spans", 0}};
  for (std::uint64_t sequence = 1; allowed.number != 0; ++sequence) {
    if (Clock::now() >= times.end && (!is_flat_out || sequence > 1)) break;
    if (!is_flat_out) times.wait();
    const double most = is_flat_out ? 10'000 : std::max(allowed.a_second / 10, 1.0);
    double count = 0;
    const std::string body = random_spans(random, most, allowed.bits, count);
    agent.send(wire::append_events, sequence, allowed.number, {}, {}, body);
    do {
      require(agent.read(frame), "no acknowledgement");
      allowed.take(frame);
    } while (frame.type != wire::PduType::EventsAck);
    require(wire::decode_events_ack(frame.payload) == sequence, "a wrong acknowledgement");
    totals["spans"] += count;
    totals["bytes"] += static_cast<double>(body.size());
  }
  totals["allowed"] = allowed.a_second;
  agent.send(wire::append_bye, wire::ByeReason::Done);
  return totals;
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
  const bool sends_spans = argv[2] == std::string("spans");
  for (unsigned seed = 0; !sends_spans && seed < 16; ++seed)
    batches.push_back(make_batch(options, seed));
  std::vector<std::future<Numbers>> clients;
  for (int number = 0; number < static_cast<int>(options.at("clients")); ++number)
    clients.push_back(std::async(std::launch::async, sends_spans ? send_spans : send_batches,
                                 argv[1], options, number));
  Numbers totals;
  for (auto& client : clients) add(client.get(), totals);
  if (!sends_spans) totals["bins"] /= totals["histograms"];
  for (const auto& [name, sum] : totals) std::printf("%s %.17g\n", name.c_str(), sum);
  return 0;
}
