// SPDX-License-Identifier: LGPL-2.1-or-later
// The library's side of the protocol, over a real socket, against an agent that may send anything
// at any time: greet with any version, welcome, acknowledge and say goodbye without a reason, send
// garbage, hang up. The library always keeps to the protocol, never resends a call that may have
// been counted, and accounts for every call. As soon as an honest agent comes, the library delivers
// all pending calls.
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "fuzz/input.hpp"
#include "process/agent_output.hpp"
#include "process/flusher.hpp"
#include "support/add_records.hpp"
#include "support/encoded.hpp"

using namespace pcp::trace;
using fuzz::Input;
using fuzz::require;

namespace {

using namespace pcp::trace::client;
using wire::FrameReader;
using wire::PduType;

constexpr std::uint32_t kNormalPduBytes = 1 << 20;

// An abstract socket, without a file.
std::string socket_name() {
  return std::string(1, '\0') + "pcp-trace lying agent " + std::to_string(::getpid());
}

int listen_there() {
  const int listener = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  socket_name().copy(address.sun_path, sizeof address.sun_path);
  require(::bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  require(::listen(listener, 16) == 0);  // room for connections that the library has given up
  return listener;
}

const std::vector<const Tag*>& all_tags() {
  static const std::vector<const Tag*> tags = [] {
    std::vector<const Tag*> made;
    for (const unsigned length : {1u, 2u, 3u, 20u, 124u, 125u, 254u})
      made.push_back(intern_tag(std::string(length, static_cast<char>('a' + made.size()))));
    return made;
  }();
  return tags;
}

RecordKind kind_of(TraceType type) { return static_cast<RecordKind>(type); }
// Increments are received as values of their counter.
RecordKind shown_kind(RecordKind kind) {
  return kind == RecordKind::Abort ? kind : kind_of(type_of(kind));
}

// By kind of call: transactions that failed are a kind of their own.
using Totals = std::map<std::pair<RecordKind, std::string>, Delta>;

std::uint64_t calls_in(const Totals& totals) {
  std::uint64_t calls = 0;
  for (const auto& [tag, delta] : totals) calls += delta.count;
  return calls;
}

// The agent: sends what the story wants, and checks all that it receives. `recorded` is the truth.
class Agent {
 public:
  explicit Agent(const Totals& recorded) : recorded_(recorded) {}
  ~Agent() { hang_up(); }

  // False if no connection waits, or one is open already.
  bool accept() {
    if (socket_ >= 0) return false;
    socket_ = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (socket_ < 0) return false;
    line_ = {};
    return true;
  }

  void hang_up() {
    if (socket_ >= 0) ::close(std::exchange(socket_, -1));
  }

  void say(std::string_view bytes) {
    if (socket_ < 0) return;
    note_said(bytes);
    // Fails if the library has hung up.
    [[maybe_unused]] auto sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }

  // Reads all available bytes. False if there are none.
  bool hear() {
    if (socket_ < 0) return false;
    constexpr std::size_t kBytes = 64 * 1024;
    const ssize_t got = ::recv(socket_, line_.heard.prepare(kBytes), kBytes, 0);
    line_.heard.commit(got > 0 ? static_cast<std::size_t>(got) : 0);
    if (got == 0) hang_up();
    if (got <= 0) return false;
    wire::Frame pdu;
    FrameReader::Status status;
    while ((status = line_.heard.next(pdu)) == FrameReader::Status::Frame) take(pdu);
    require(status == FrameReader::Status::NeedMore);
    return true;
  }

  bool is_connected() const { return socket_ >= 0; }
  bool has_greeted() const { return line_.version.has_value(); }
  bool has_hello() const { return line_.has_hello; }
  bool has_welcomed() const { return line_.max_pdu_bytes > 0; }
  std::uint64_t highest() const { return highest_; }
  const Totals& received() const { return received_; }
  bool has_lied() const { return has_lied_; }
  bool spoke_version_1() const { return spoke_version_1_; }

 private:
  void note_said(std::string_view bytes) {
    bytes.copy(line_.said.prepare(bytes.size()), bytes.size());
    line_.said.commit(bytes.size());
    wire::Frame pdu;
    while (line_.said.next(pdu) == FrameReader::Status::Frame) {
      if (!line_.version) {
        line_.version = wire::decode_ack(pdu.payload).value_or(-1);
        spoke_version_1_ |= *line_.version == 0 || *line_.version == 1;
      } else if (pdu.type == PduType::Welcome) {
        const auto welcome = wire::decode_welcome(pdu.payload);
        if (!welcome) continue;
        if (line_.max_pdu_bytes == 0) line_.max_pdu_bytes = welcome->max_pdu_bytes;
        has_lied_ |= welcome->last_sequence > highest_;
      } else if (pdu.type == PduType::BatchAck) {
        has_lied_ |= wire::decode_batch_ack(pdu.payload).value_or(0) > highest_;
      }
    }
  }

  void take(const wire::Frame& pdu) {
    require(line_.version && *line_.version >= 0);
    if (*line_.version < 2) return take_data(pdu);
    if (!line_.has_hello) {
      require(pdu.type == PduType::Hello && wire::decode_hello(pdu.payload));
      line_.has_hello = true;
      return;
    }
    require(pdu.payload.size() + wire::kHeaderBytes <= line_.max_pdu_bytes);  // 0 before WELCOME
    if (pdu.type == PduType::Tags) return take_tags(pdu);
    require(pdu.type == PduType::Batch);
    take_batch(pdu);
  }

  void take_data(const wire::Frame& pdu) {
    const auto data = wire::decode_data(pdu.payload);
    require(pdu.type == PduType::Data && data && data->tag.size() <= 124);
    Delta one;
    one.add(data->value);
    receive(kind_of(data->type), std::string(data->tag), one);
  }

  void take_tags(const wire::Frame& pdu) {
    std::vector<wire::TagDefinition> definitions;
    require(wire::decode_tags(pdu.payload, definitions));
    for (const wire::TagDefinition& each : definitions)
      require(line_.names.emplace(each.id, each.name).second);
  }

  void take_batch(const wire::Frame& pdu) {
    wire::Batch batch;
    require(wire::decode_batch(pdu.payload, batch) && !batch.entries.empty());
    require(batch.sequence > line_.last_heard);
    line_.last_heard = batch.sequence;
    wire::Batch values;
    values.sequence = batch.sequence;
    values.entries = batch.entries;
    const std::string body = wire::pdu_of(values);
    const auto [before, is_new] = bodies_.emplace(batch.sequence, body);
    require(before->second == body);
    for (const wire::DeltaEntry& entry : batch.entries) require(line_.names.contains(entry.tag_id));
    if (!is_new) return;
    highest_ = std::max(highest_, batch.sequence);
    for (const wire::DeltaEntry& entry : batch.entries)
      if (entry.failed.empty())
        receive(kind_of(entry.type), line_.names[entry.tag_id], entry.delta);
      else
        receive(RecordKind::Abort, line_.names[entry.tag_id], entry.failed);
  }

  void receive(RecordKind kind, const std::string& name, const Delta& delta) {
    const auto recorded = recorded_.find({kind, name});
    require(recorded != recorded_.end());
    Delta& received = received_[{kind, name}];
    received.merge(delta);
    require(received.count <= recorded->second.count);
  }

  inline static const int listener_ = listen_there();
  const Totals& recorded_;
  Totals received_;  // of all connections; each batch counts once
  std::map<std::uint64_t, std::string> bodies_;
  std::uint64_t highest_ = 0;
  bool has_lied_ = false;  // acknowledged a batch that never came
  bool spoke_version_1_ = false;

  struct Line {
    FrameReader heard{kNormalPduBytes};
    FrameReader said{kNormalPduBytes};
    std::optional<std::int32_t> version{};
    std::size_t max_pdu_bytes = 0;
    bool has_hello = false;
    std::uint64_t last_heard = 0;
    std::map<std::uint32_t, std::string> names{};
  };
  int socket_ = -1;
  Line line_;
};

// The library's flusher, with the story's clock.
class Library {
 public:
  Library() { output_.connect(); }

  // Requires: all records have the same tag and kind.
  void record(std::span<const Record> records, Totals& totals) {
    add_records(outbox_.pending, records, now_);
    const Record& first = records.front();
    Delta& total = totals[{shown_kind(first.kind()), std::string(name_of(*first.tag()))}];
    for (const Record& each : records) add_to(total, each);
  }

  // The path of a thread whose queue is full.
  void record_merged(const OverflowCell& cell, Totals& totals) {
    outbox_.pending.make_room(1);
    outbox_.pending.add(cell, now_);
    Delta& total = totals[{shown_kind(cell.kind), std::string(name_of(*cell.tag))}];
    if (cell.kind == RecordKind::Add)
      add_increments(total, cell.delta.count, cell.delta.sum);
    else
      total.merge(cell.delta);
  }

  // A flush() call of the program, while time goes on.
  void flush() {
    deliveries_.request_delivery();
    flusher_.on_bell(true);
    pass_time(kInterval);
  }

  // Advances the clock to the flusher's next timer.
  void wait() {
    const std::uint64_t next = flusher_.next_call_ns();
    pass_time(next != kNever && next > now_ ? next - now_ : 0);
  }
  void pass_time(std::uint64_t ns) {
    now_ += ns;
    flusher_.on_timer();
  }
  void find_no_memory() { flusher_.recover(); }

  // Does all work that is possible now. False if there was none.
  bool work() {
    const bool is_rung = bell_.is_rung();
    if (is_rung) flusher_.on_bell(bell_.silence());
    pollfd awaited = output_.awaited();
    if (::poll(&awaited, 1, 0) <= 0) return is_rung;
    flusher_.on_output_ready();
    return true;
  }

  bool has_settled() const { return outbox_.pending.empty() && output_.has_settled(kNever); }
  bool has_answered_all() const { return deliveries_.is_settled(deliveries_.requested()); }
  const DeliveryCounters& counters() const { return counters_; }

 private:
  static constexpr std::uint64_t kInterval = 100'000'000;

  // Shared by all stories, because its descriptor is never closed.
  static Doorbell& bell() {
    static Doorbell bell;
    if (bell.descriptor() < 0) bell.renew();
    return bell;
  }
  static ClientOptions options() {
    ClientOptions options;
    options.socket_path = socket_name();
    options.socket_only = true;
    options.connect_timeout = std::chrono::hours(24);
    options.reconnect_delays = {std::chrono::seconds(1)};
    return options;
  }
  Flusher::Platform platform() {
    return {.now_ns = [this] { return now_; },
            .pause = [](std::chrono::nanoseconds) {},
            .has_main_left = [] { return false; },
            .is_last_thread = [] { return false; }};
  }

  Doorbell& bell_ = bell();
  std::uint64_t now_ = 1'000'000'000;
  const ClientOptions options_ = options();
  Recorders recorders_{bell_, 2};
  Deliveries deliveries_;
  DeliveryCounters counters_;
  Outbox outbox_{recorders_, options_, counters_, [] { return wire::ClientCounters{}; }};
  OwnDescriptor socket_;
  AgentOutput output_{socket_, options_, outbox_, [this] { return now_; }};
  Flusher flusher_{{recorders_, bell_, deliveries_},
                   outbox_,
                   output_,
                   std::chrono::nanoseconds(kInterval),
                   platform()};
};

// The program only adds to the counters of some tags.
RecordKind kind_for(unsigned tag, RecordKind kind) {
  return kind == RecordKind::Counter && tag % 2 == 1 ? RecordKind::Add : kind;
}

// Integers, so that sums are exact in any order. A transaction's value is a duration.
double value_of(RecordKind kind, unsigned choice) {
  if (type_of(kind) == TraceType::Transact || kind == RecordKind::Add) return choice;
  if (choice == 0) return std::numeric_limits<double>::quiet_NaN();
  if (choice == 1) return -std::numeric_limits<double>::infinity();
  return static_cast<double>(choice) - 100;
}

class Story {
 public:
  void tell(Input& input) {
    may_be_huge_ = input.byte() == 255;  // rarely: it takes long
    while (!input.empty()) {
      act(input);
      let_them_work();
    }
    come_to_an_end();
  }

 private:
  void act(Input& input) {
    switch (input.pick(16)) {
      case 0: {
        constexpr RecordKind kKinds[] = {RecordKind::Transact, RecordKind::Point,
                                         RecordKind::Observe, RecordKind::Counter,
                                         RecordKind::Abort};
        const unsigned tag = input.pick(7);
        const RecordKind kind = kind_for(tag, kKinds[input.pick(5)]);
        const double value = value_of(kind, input.byte());
        library_.record(std::vector<Record>(1 + input.pick(100), {all_tags()[tag], value, kind}),
                        recorded_);
        break;
      }
      case 1: {
        OverflowCell cell;
        const unsigned tag = input.pick(7);
        cell.tag = all_tags()[tag];
        cell.kind = kind_for(tag, static_cast<RecordKind>(1 + input.pick(4)));
        const double value = value_of(cell.kind, input.byte());
        for (unsigned times = 1 + input.pick(100); times > 0; --times) cell.delta.add(value);
        library_.record_merged(cell, recorded_);
        break;
      }
      case 2:
        record_widely(input);
        break;
      case 3:
        library_.flush();
        break;
      case 4:
        connect();
        break;
      case 5:
        greet(static_cast<std::int32_t>(input.pick(5)) - 1);
        break;
      case 6: {
        const unsigned bits = input.byte();
        welcome({.agent_instance = bits & 3,
                 .session_known = (bits & 4) != 0,
                 .last_sequence = agent_.highest() + (bits >> 3 & 3) - 1,
                 .max_pdu_bytes = (bits & 32) != 0 ? kNormalPduBytes : 0,
                 .features = {}});
        break;
      }
      case 7:
        acknowledge(agent_.highest() + input.pick(4) - 1);
        break;
      case 8:
        acknowledge(input.number());
        break;
      case 9:
        greet(static_cast<std::int8_t>(input.byte()));
        break;
      case 10: {
        std::string pdu;
        const PduType type{0x7050 + std::uint32_t{input.pick(32)}};
        wire::append_frame(pdu, type, wire::kPid, input.text(input.pick(64)));
        agent_.say(pdu);
        break;
      }
      case 11:
        agent_.say(input.text(input.pick(64)));
        break;
      case 12:
        agent_.hang_up();
        break;
      case 13:
        library_.find_no_memory();
        break;
      case 14:
        library_.pass_time(input.number() >> 8);
        break;
      case 15:
        behave(1 + input.pick(3));
        break;
    }
  }

  // A histogram of many bytes: values of all magnitudes, no two bins adjacent. Some stories have
  // one as large as the smallest PDU limit allows, or larger.
  void record_widely(Input& input) {
    const Tag* tag = all_tags()[input.pick(7)];
    const bool is_huge = std::exchange(may_be_huge_, false);
    const int values = !is_huge ? 50 : input.pick(2) == 0 ? 32'000 : 40'000;
    std::vector<Record> records;
    for (int i = 0; i < values; ++i) {
      const double value = std::ldexp(1 + i % 16 / 16.0, i / 16 % 2000 - 1000);
      records.emplace_back(tag, i < 32'000 ? value : -value, RecordKind::Observe);
    }
    library_.record(records, recorded_);
    is_rounded_ = true;
  }

  // Gives up if there is nothing to deliver: then the library looks for no agent.
  void connect() {
    constexpr int kWaits = 20;
    for (int waits = 0; waits < kWaits && !agent_.is_connected(); ++waits) {
      library_.wait();
      let_them_work();
    }
  }
  void greet(std::int32_t version) { agent_.say(wire::pdu_of(wire::append_ack, version)); }
  void welcome(const wire::Welcome& welcome) {
    agent_.say(wire::pdu_of(wire::append_welcome, welcome));
  }
  void acknowledge(std::uint64_t sequence) {
    agent_.say(wire::pdu_of(wire::append_batch_ack, sequence));
  }

  // One step of an honest agent. With the last agent's instance number it knows the session.
  void behave(std::uint64_t instance) {
    if (!agent_.is_connected()) {
      connect();
      greet(2);
    } else if (agent_.has_hello()) {
      welcome({.agent_instance = instance,
               .session_known = true,
               .last_sequence = agent_.highest(),
               .max_pdu_bytes = kNormalPduBytes,
               .features = {}});
      acknowledge(agent_.highest());
    }
  }

  void let_them_work() {
    while (library_.work() || agent_.hear() || agent_.accept()) continue;
    const DeliveryCounters& counters = library_.counters();
    require(counters.acknowledged + counters.uncertain + counters.undeliverable <=
            calls_in(recorded_));
  }

  // A new, honest agent delivers the rest.
  void come_to_an_end() {
    agent_.hang_up();
    library_.find_no_memory();
    let_them_work();
    library_.flush();
    let_them_work();
    for (int round = 0; round < 1000 && !library_.has_settled(); ++round) {
      end_honestly();
      let_them_work();
    }
    require(library_.has_settled() && library_.has_answered_all());
    check_accounts();
  }

  void end_honestly() {
    constexpr std::uint64_t kInstance = 1000;
    if (!agent_.is_connected())
      connect();
    else if (!agent_.has_greeted())
      greet(2);
    else if (!agent_.has_welcomed())
      welcome({.agent_instance = kInstance, .max_pdu_bytes = kNormalPduBytes, .features = {}});
    else
      acknowledge(agent_.highest());
  }

  void check_accounts() {
    const DeliveryCounters& counters = library_.counters();
    const std::uint64_t in_doubt = counters.uncertain + counters.undeliverable;
    require(counters.acknowledged + in_doubt == calls_in(recorded_));
    if (agent_.has_lied() || agent_.spoke_version_1()) return;
    require(calls_in(agent_.received()) + in_doubt >= calls_in(recorded_));
    if (in_doubt == 0)
      for (const auto& [tag, recorded] : recorded_) {
        const auto received = agent_.received().find(tag);
        require(received != agent_.received().end());
        check_same(tag.first, recorded, received->second);
      }
  }

  void check_same(RecordKind kind, const Delta& recorded, const Delta& received) const {
    const TraceType type = type_of(kind);
    require(received.count == recorded.count);
    if (type == TraceType::Point || recorded.count == 0) return;
    require(received.nonfinite == recorded.nonfinite);
    require(kind == RecordKind::Abort || received.last == recorded.last ||
            (std::isnan(received.last) && std::isnan(recorded.last)));
    const bool is_added = recorded.min > recorded.max;  // increments have no min and max
    if (type == TraceType::Counter && recorded.nonfinite == 0 && is_added)
      require(received.sum == recorded.sum);
    if (!has_histogram(type)) return;
    require(received.min == recorded.min && received.max == recorded.max);
    require(is_rounded_ || received.sum == recorded.sum);
  }

  Totals recorded_;
  Agent agent_{recorded_};
  Library library_;
  bool is_rounded_ = false;  // the sums
  bool may_be_huge_ = false;
};

}  // namespace

void fuzz::run(Input input) {
  Input short_one(input.text(512));  // each step takes some microseconds
  Story().tell(short_one);
}
