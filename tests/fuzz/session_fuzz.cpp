// SPDX-License-Identifier: LGPL-2.1-or-later
// The agent's sessions: several users' connections that say hello, take each other's sessions over,
// define tags, send and resend batches and spans, speak version 1, break the protocol, say goodbye
// or just close. Meanwhile monitors come and go, time passes, intervals end and values are reset.
//
// The unit tests of sessions, limits and transactions in flight say what is answered and counted.
// This checks that the agent survives, says nothing to a connection that it ends, and is as empty
// as before once all have gone.
#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "collector/ingest/dialogue.hpp"
#include "fuzz/input.hpp"
#include "support/all_tags.hpp"
#include "support/encoded.hpp"

using namespace pcp::trace;
using fuzz::Input;
using fuzz::require;

namespace {

using namespace pcp::trace::agent;
using namespace std::chrono_literals;
using wire::PduType;

constexpr std::uint32_t kPid = 5;

Instant now{};  // the value of all clocks
Instant clock_of_turns() { return now; }

// The agent's side without its sockets, and its clients. The limits are so small that short inputs
// exceed them.
class House {
 public:
  explicit House(fuzz::Input& input) : input_(input) {
    options_.max_tags_per_session = 5;
    options_.max_tags_per_user = 8;
    options_.max_tags_in_sessions = 12;
    options_.max_label_bytes = 24;
    options_.max_sessions_per_user = 2;
    options_.max_remembered_sessions = 3;
    options_.max_in_flight = 7;
    context_.end_connection = [this](std::uint64_t number) { hang_up(number); };
  }

  void go_on() {
    static constexpr Step kSteps[] = {
        &House::connect, &House::hello, &House::hello,  &House::tags,
        &House::tags,    &House::batch, &House::batch,  &House::in_flight,
        &House::resend,  &House::data,  &House::bye,    &House::anything,
        &House::leave,   &House::wait,  &House::rotate, &House::keep_up};
    const Step step = kSteps[input_.pick(16)];
    pick_line();
    if (lines_.empty()) return connect();
    pdu_.clear();
    (this->*step)();
    if (!pdu_.empty()) say();
  }

  void end() {
    while (!lines_.empty()) hang_up(lines_.begin()->first);
    reader_.clients([](std::uint64_t, const ClientView&) { require(false); });
    while (enter_again(3)) continue;
    for (const auto& [name, values] : all_tags(reader_, TraceType::Transact, now))
      require(values.in_flight.open == 0);
    now += options_.remember_session;
    forget_old();
    require(reader_.ingest_counters().sessions == 0);
    fill_all_room();
  }

 private:
  using Step = void (House::*)();
  struct Line {
    Line(DialogueContext& context, Peer its) : peer(std::move(its)), dialogue(context, peer) {}
    Peer peer;
    Dialogue dialogue;
  };
  static constexpr std::uint32_t kMostTags = 6;  // the engine's limit

  void pick_line() {
    const unsigned choice = input_.byte();
    if (!lines_.empty())
      line_ = std::next(lines_.begin(), choice % static_cast<unsigned>(lines_.size()))->first;
  }

  // Sends the PDU, now and then with one byte of the payload changed.
  void say() {
    if (input_.pick(16) == 0 && pdu_.size() > wire::kHeaderBytes) {
      const std::size_t offset = input_.byte() % (pdu_.size() - wire::kHeaderBytes);
      pdu_[wire::kHeaderBytes + offset] = static_cast<char>(input_.byte());
    }
    send(sent_.emplace_back(pdu_));
    if (sent_.size() > 32) sent_.pop_front();
  }

  // False if the agent ends the connection.
  bool send(std::string_view pdu) {
    std::string answer;
    Dialogue& dialogue = lines_.at(line_).dialogue;
    Turn turn(shared_, clock_of_turns);
    const auto ending =
        dialogue.on_frame({wire::type_of(pdu), kPid, wire::payload_of(pdu)}, turn, answer);
    turn.end();
    require(reader_.engine_counters().tags <= kMostTags);
    if (!ending) return true;
    require(answer.empty());
    dialogue.bye(answer, ending->reason);
    hang_up(line_);
    return false;
  }

  // Each user has a session again, with as many tags and transactions in flight as the limits
  // allow.
  void fill_all_room() {
    const std::uint64_t left_out = reader_.ingest_counters().in_flight_left_out;
    wire::Hello hello;
    hello.session.fill(1);
    for (const unsigned user : {0u, 1u, 2u}) {
      connect_as(user);
      line_ = connections_;
      std::string in_flight;
      for (std::uint32_t id = 0; id < (user < 2 ? 3u : 1u); ++id)
        wire::append_open_count(in_flight, {id, 1, 0, 0});
      require(send(wire::pdu_of(wire::append_hello, hello)));
      require(send(wire::pdu_of(wire::append_tags, {{0, "a"}, {1, "b"}, {2, "c"}, {3, "d"}})));
      require(send(wire::pdu_of(wire::append_batch, 1, {{}, {}, in_flight, true}, {})));
    }
    require(reader_.ingest_counters().in_flight_left_out == left_out);
  }

  // The steps: an event of a line, or a PDU that it sends.
  void connect() { connect_as(input_.pick(3)); }

  void connect_as(unsigned user) {
    Peer peer;
    peer.number = ++connections_;
    peer.address = user < 2 ? "local:" : "192.0.2.1";
    if (user < 2) peer.uid = user;
    lines_.try_emplace(peer.number, context_, peer);
  }

  void hang_up(std::uint64_t number) {
    lines_.at(number).dialogue.describe();
    lines_.at(number).dialogue.close(now);
    lines_.erase(number);
  }
  void leave() { hang_up(line_); }
  void wait() { now += Duration(input_.number() >> input_.pick(64) >> 10); }

  void rotate() {
    Turn turn(shared_);
    turn.engine().rotate(now, input_.pick(4));
    turn.engine().take_discarded();
  }

  void keep_up() {
    const unsigned step = input_.pick(4);
    if (step == 0) reset();
    if (step == 1) forget_old();
    if (step == 2) look_at_spans();
    if (step == 3) enter_again(input_.pick(3));
  }

  void reset() { Turn(shared_).engine().reset(now); }

  void forget_old() {
    Turn turn(shared_, clock_of_turns);
    context_.sessions.forget_old(now, turn);
  }

  bool enter_again(std::size_t most) {
    Turn turn(shared_, clock_of_turns);
    return context_.sessions.in_flight().enter_again(turn, most);
  }

  void look_at_spans() {
    pick_line();
    const unsigned step = input_.pick(8);
    if (step == 0) read();
    if (step == 1 || step == 2) watch(input_.pick(8));
    if (step == 3 && !watchers_.empty()) watchers_.pop_front();
    if (step == 4) tell();
    if (step > 4) events();
  }

  void tell() {
    std::string control;
    require(lines_.at(line_).dialogue.append_control(control) == !control.empty());
  }

  void read() {
    for (const auto& monitor : watchers_) {
      const SpanReading reading = monitor->read(1'000'000);
      monitor->advance(reading, reading.entries.size());
    }
  }

  void watch(unsigned which) {
    if (watchers_.size() == 4) watchers_.pop_front();
    watchers_.push_back(
        shared_.spans.capture((which & 1) == 0 ? "tag=a" : "tag=b",
                              {(which & 2) == 0 ? std::nullopt : std::optional(which >> 2 & 1)}));
  }

  void events() {
    std::string body;
    for (unsigned count = input_.pick(4); count > 0; --count) {
      wire::Span span;
      span.tag_id = input_.pick(8);
      span.trace = {1, 2};
      span.span = ++last_span_;
      span.capture_bits = 1 + input_.pick(7);
      wire::append_span(body, span);
    }
    std::vector<wire::CaptureCount> counts;
    if (input_.pick(4) == 0)
      counts.push_back({1 + std::uint64_t{input_.pick(4)}, input_.number() >> 8, input_.byte()});
    std::vector<wire::WantedTrace> wanted;
    for (unsigned count = input_.pick(4); count > 0; --count)
      wanted.push_back({input_.number(), 1 + input_.pick(7)});
    events_ += input_.pick(3);
    wire::append_events(pdu_, kPid, 1 + events_, shared_.spans.number() - input_.pick(4), counts,
                        wanted, body);
  }

  void hello() {
    wire::Hello hello;
    hello.session.fill(static_cast<std::uint8_t>(input_.pick(4)));
    hello.process = std::string(input_.text(input_.pick(9)));
    hello.service = input_.pick(2) == 0 ? "service" : "other";
    if (input_.pick(4) == 0) hello.labels = {{"zone", std::string(input_.text(input_.pick(17)))}};
    wire::append_hello(pdu_, kPid, hello);
  }

  void tags() {
    static constexpr const char* kNames[] = {"a",      "b", "a b", "(overflow)",
                                             "\xff\n", "f", "g",   "a{k=%20;l=}"};
    std::vector<wire::TagDefinition> definitions;
    for (unsigned count = input_.pick(4); count > 0; --count) {
      const unsigned which = input_.byte();
      definitions.push_back({which & 7, kNames[(which >> 3 ^ which) & 7],
                             (which & 0x40) != 0 ? "ms" : "", (which & 0x80) != 0 ? "\n\xff" : ""});
    }
    wire::append_tags(pdu_, kPid, definitions);
  }

  void batch() {
    std::string body;
    for (unsigned count = input_.pick(4); count > 0; --count) {
      const std::uint32_t tag = input_.pick(8);
      const unsigned kind = input_.pick(8);
      const TraceType type = kTraceTypes[kind % 4];
      Delta delta;
      Histogram histogram;
      const bool has_failed = type == TraceType::Transact && input_.pick(3) == 0;
      for (unsigned values = input_.pick(8); values > 0; --values)
        if (const double value = this->value(); delta.add(value)) histogram.add(value);
      if (input_.pick(8) == 0) delta.count += input_.number() >> 4;  // absurd, but valid
      if (kind == 7)  // increments of a counter; not always valid
        wire::append_increments(body, tag, delta);
      else if (has_failed)
        wire::append_failures(body, tag, delta, histogram);
      else
        wire::append_delta(body, tag, type, delta, histogram);
    }
    const auto [least, most] = std::minmax({age(), age()});
    sequence_ += input_.pick(4);
    wire::append_batch(pdu_, kPid, sequence_ - input_.pick(3), {{most, least}, {}}, body);
  }

  void in_flight() {
    std::string in_flight;
    for (unsigned count = input_.pick(5); count > 0; --count) {
      const unsigned which = input_.byte();
      wire::append_open_count(in_flight, {which & 7, which >> 3 & 3, age(), which >> 5});
    }
    const bool anew = input_.pick(4) == 0;
    wire::append_batch(pdu_, kPid, sequence_ + input_.pick(2), {{}, {}, in_flight, anew}, {});
  }

  // Now, some time ago, or nonsense.
  std::uint64_t age() {
    const unsigned choice = input_.byte();
    if (choice == 255) return input_.number();
    return choice < 128 ? 0 : (choice - 128) * std::uint64_t{250'000'000};
  }

  double value() {
    const unsigned choice = input_.byte();
    return choice == 255 ? input_.real() : (static_cast<double>(choice) - 100) / 8;
  }

  void resend() {
    if (!sent_.empty()) pdu_ = sent_[input_.pick(256) % sent_.size()];
  }

  void data() {
    const std::string tag(1 + input_.pick(2), static_cast<char>('a' + input_.pick(8)));
    const TraceType type = kTraceTypes[input_.pick(4)];
    wire::append_data(pdu_, kPid, {type, input_.pick(2) == 0, value(), tag});
  }

  void bye() { wire::append_bye(pdu_, kPid, wire::ByeReason{input_.pick(3)}); }

  void anything() {
    const PduType type{0x7050 + std::uint32_t{input_.pick(32)}};
    wire::append_frame(pdu_, type, kPid, input_.text(input_.byte()));
  }

  fuzz::Input& input_;
  IngestOptions options_;
  Shared shared_{
      {.period = 10s, .buckets = 4, .max_tags = kMostTags, .max_histogram_bytes = 8 * 1024},
      {},
      now};
  const Reader reader_{shared_};
  DialogueContext context_{.shared = shared_,
                           .options = options_,
                           .log = LimitedLog([](const std::string&) {}),
                           .agent_instance = 42,
                           .pid = kPid};
  std::map<std::uint64_t, Line> lines_;
  std::uint64_t connections_ = 0;
  std::uint64_t line_ = 0;  // of the current line
  std::string pdu_;         // the PDU to send
  std::deque<std::string> sent_;
  std::uint64_t sequence_ = 2;
  std::uint64_t events_ = 0;
  std::uint64_t last_span_ = 0;
  std::deque<std::unique_ptr<SharedSpans::Subscription>> watchers_;
};

}  // namespace

void fuzz::run(Input input) {
  now = Instant(1'000s);
  House house(input);
  while (!input.empty()) house.go_on();
  house.end();
}
