// SPDX-License-Identifier: LGPL-2.1-or-later
// The agent's sessions: several users' connections that say hello, take each other's sessions over,
// define tags, send batches and spans and resend them, speak version 1, break the protocol, say
// goodbye or just go, while monitors come and go, time passes, intervals end and values are reset.
// A model does what the protocol's page says. Every answer has to be the model's, and in the end
// the engine has counted what the accepted PDUs said, nothing twice, and each monitor has got what
// was captured for it.
#include <array>
#include <cmath>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "collector/ingest/dialogue.hpp"
#include "fuzz/input.hpp"
#include "support/all_tags.hpp"
#include "wire/dimensions.hpp"
#include "wire/legacy.hpp"

namespace {

using namespace pcp::trace;
using namespace pcp::trace::agent;
using namespace std::chrono_literals;
using fuzz::Input;
using fuzz::require;
using wire::ByeReason;
using wire::PduType;

constexpr std::uint64_t kInstance = 42;
constexpr std::uint32_t kPid = 5;
constexpr std::size_t kMaxTags = 6;
constexpr Time kPeriod = 10s;
constexpr std::chrono::milliseconds kMemory = 1h;
constexpr std::chrono::milliseconds kVanishing = 2min;
constexpr std::uint32_t kMostInFlight = 7;

Time now{};  // what all clocks say

// Limits so small that short inputs get over them.
EngineOptions engine_options() {
  EngineOptions options;
  options.period = kPeriod;
  options.buckets = 4;
  options.max_tags = kMaxTags;
  options.max_histogram_bytes = 8 * 1024;
  return options;
}

IngestOptions ingest_options() {
  IngestOptions options;
  options.max_tags_per_session = 5;
  options.max_tags_per_user = 8;
  options.max_tags_in_sessions = 12;
  options.max_label_bytes = 24;
  options.max_sessions_per_user = 2;
  options.remember_session = kMemory;
  options.max_in_flight = kMostInFlight;
  options.vanish_after = kVanishing;
  return options;
}

// What must be in the engine: values by type and tag, or those of the type's "(overflow)". Once a
// tag with labels was counted, which may go to its bare name, or something was in flight, only how
// many calls of a type there are.
class Totals {
 public:
  void add(TraceType type, const std::string& name, const Delta& delta, bool is_added = false) {
    if (delta.empty()) return;
    counts_only_ = counts_only_ || bare_name(name).size() != name.size();
    add_calls(calls_[index_of(type)], delta.count);
    Values& values = values_[find_or_begin(type, name)];
    if (is_added) {
      add_calls(values.total.count, delta.count);
      add_calls(values.increments.calls, delta.count);
      add_value(values.increments.sum, delta.sum);
    } else {
      values.total.merge(delta);
    }
  }

  // Something is in flight: its tag is shown, but when it comes again after a reset nobody tells.
  void note_in_flight() { counts_only_ = true; }

  void vanish(std::uint64_t open) { add_calls(vanished_, open); }

  void reset() {
    values_.clear();
    shown_ = 0;
    calls_ = {};
    vanished_ = 0;
  }

  // `open` is what is in flight.
  void check(const Reader& reader, std::uint64_t open) const {
    check_in_flight(reader, open);
    std::size_t instances = 0;
    for (const TraceType type : kTraceTypes) {
      const std::vector<KnownTag> tags = all_tags(reader, type, now);
      require(tags.size() == reader.instance_count(type));
      if (counts_only_) {
        std::uint64_t calls = 0;
        for (const auto& [name, values] : tags) add_calls(calls, values.total.count);
        require(calls == calls_[index_of(type)]);
        continue;
      }
      for (const auto& [name, values] : tags) {
        require(name.instance == values.instance);
        const bool overflow = name.instance == kOverflowInstance;
        const auto expected = values_.find({type, overflow ? std::string() : name.tag});
        require(expected != values_.end());
        check_same(expected->second, values);
      }
      instances += tags.size();
    }
    require(counts_only_ ||
            (instances == values_.size() && reader.engine_counters().tags == shown_));
  }

 private:
  // The empty name stands for "(overflow)".
  using Key = std::pair<TraceType, std::string>;
  struct Values {
    Delta total;
    Increments increments;
  };

  Key find_or_begin(TraceType type, const std::string& name) {
    const Key key{type, name};
    if (name == kOverflowName) return {type, {}};
    if (values_.contains(key)) return key;
    const bool is_known = known_.contains(key) || known_.size() < 2 * kMaxTags;
    if (is_known) known_.insert(key);
    if (!is_known || shown_ == kMaxTags) return {type, {}};
    ++shown_;
    return key;
  }

  void check_in_flight(const Reader& reader, std::uint64_t open) const {
    std::uint64_t vanished = 0;
    for (const auto& [name, values] : all_tags(reader, TraceType::Transact, now)) {
      const TagValues::InFlight& in_flight = values.in_flight;
      require(in_flight.open <= open && in_flight.oldest_age >= 0ns);
      require(in_flight.open > 0 || (in_flight.oldest_age == 0ns && in_flight.tid == 0));
      open -= in_flight.open;
      add_calls(vanished, in_flight.vanished);
    }
    require(open == 0 && vanished == vanished_);
  }

  static bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

  static void check_same(const Values& all_expected, const TagValues& values) {
    require(values.increments.calls == all_expected.increments.calls);
    require(values.increments.sum == all_expected.increments.sum);
    const Delta& expected = all_expected.total;
    const Delta& total = values.total;
    require(total.count == expected.count && total.aborts == expected.aborts);
    require(total.nonfinite == expected.nonfinite);
    require(same(total.sum, expected.sum) && same(total.last, expected.last));
    require(same(total.min, expected.min) && same(total.max, expected.max));
    if (!values.in_window) return;
    require(values.window.count > 0);
    if (values.has_quantiles)
      for (const double each : values.quantiles)
        require(each >= values.window.min && each <= values.window.max);
  }

  std::map<Key, Values> values_;
  std::set<Key> known_;    // names that have a number for ever
  std::size_t shown_ = 0;  // tags with values, without "(overflow)"
  std::array<std::uint64_t, kTraceTypes.size()> calls_{};
  std::uint64_t vanished_ = 0;
  bool counts_only_ = false;
};

// What the agent has to remember, in the simplest form.
struct SessionModel {
  wire::SessionId id{};
  std::string user;
  std::uint64_t connection = 0;
  std::uint64_t last_sequence = 0;
  Time gone_at{};
  std::map<std::uint32_t, std::string> tags;
  std::map<std::uint32_t, std::uint64_t> in_flight;  // as it was said last
  bool is_in_flight_now = false;                     // on this connection
  std::uint64_t last_events = 0;
  std::map<std::uint64_t, wire::Control> told;  // by number
};

// One monitor and what it is to get.
struct Watcher {
  std::uint64_t capture = 0;  // its id
  std::unique_ptr<Spans::Monitor> monitor;
  std::vector<std::uint64_t> expected;  // ids of spans
};

// Those who watch, and the captures that they have.
class Watchers {
 public:
  explicit Watchers(Spans& spans) : spans_(spans) {}

  void come(const std::string& filter, Audience audience) {
    if (all_.size() == kMost) all_.pop_front();
    Watcher watcher;
    watcher.monitor = spans_.capture(filter, audience);
    require(watcher.monitor != nullptr);
    const auto captures = spans_.captures();
    for (std::size_t place = 0; place < kPlaces; ++place) {
      const Capture& capture = captures->at(place);
      if (capture.id != 0 && capture.filter == filter && capture.audience == audience)
        watcher.capture = capture.id;
    }
    all_.push_back(std::move(watcher));
  }
  void go() {
    if (!all_.empty()) all_.pop_front();
  }

  // What a user's process is to be told.
  wire::Control control_of(std::uint32_t uid) const {
    const auto captures = spans_.captures();
    wire::Control control;
    control.number = captures->number();
    control.most_a_second = captures->most_a_second();
    for (std::uint32_t place = 0; place < kPlaces; ++place) {
      const Capture& capture = captures->at(place);
      if (capture.id != 0 && (!capture.audience.uid || capture.audience.uid == uid))
        control.captures.push_back({capture.id, place, capture.filter});
    }
    return control;
  }

  std::uint64_t changed_for(std::uint32_t uid) const { return spans_.captures()->changed_for(uid); }

  // A span that was captured when this was known.
  void expect(const wire::Span& span, const wire::Control& known) {
    for (const wire::Capture& capture : known.captures) {
      if ((span.places >> capture.place & 1) == 0) continue;
      for (Watcher& watcher : all_)
        if (watcher.capture == capture.id) watcher.expected.push_back(span.span);
    }
  }

  void check() {
    for (Watcher& watcher : all_) {
      const SpanReading reading = watcher.monitor->read(kPlenty);
      std::vector<std::uint64_t> got;
      for (const auto& entry : reading.entries) got.push_back(entry.span->span);
      require(got == watcher.expected);
      watcher.monitor->take(reading, got.size());
      watcher.expected.clear();
    }
  }

 private:
  static constexpr std::size_t kMost = 4;
  static constexpr std::size_t kPlenty = 1'000'000;

  Spans& spans_;
  std::deque<Watcher> all_;
};

// One PDU's consequences.
struct Expected {
  std::string answer;
  std::optional<ByeReason> ending;
};

class Model {
 public:
  explicit Model(Watchers& watchers) : watchers_(watchers) {}

  enum class Speaks { Nothing, Version1, Version2 };
  struct Connection {
    std::string user;
    std::uint32_t uid = kUnknownUid;
    Speaks speaks = Speaks::Nothing;
    SessionModel* session = nullptr;
  };

  std::map<std::uint64_t, Connection> connections;
  Totals totals;
  std::uint64_t records = 0;
  std::uint64_t batches = 0;
  std::uint64_t duplicates = 0;
  std::uint64_t left_out = 0;  // of what is in flight

  Expected take(std::uint64_t number, const wire::Frame& frame) {
    Connection& connection = connections.at(number);
    if (frame.type == PduType::Data && connection.speaks != Speaks::Version2)
      return take_data(connection, frame.payload);
    if (frame.type == PduType::Hello && connection.speaks == Speaks::Nothing)
      return take_hello(number, connection, frame.payload);
    if (connection.speaks != Speaks::Version2) return broken();
    if (frame.type == PduType::Tags) return take_tags(*connection.session, frame.payload);
    if (frame.type == PduType::Batch) return take_batch(*connection.session, frame.payload);
    if (frame.type == PduType::Events) return take_events(*connection.session, frame.payload);
    if (frame.type == PduType::Bye) return take_bye(connection, frame.payload);
    return broken();
  }

  // What a process is told besides its answers.
  std::string control(std::uint64_t number) {
    Connection& connection = connections.at(number);
    if (connection.session == nullptr) return {};
    const wire::Control now_known = watchers_.control_of(connection.uid);
    const auto& told = connection.session->told;
    const bool knows_some = !told.empty() && !told.rbegin()->second.captures.empty();
    if (now_known.captures.empty() && !knows_some) return {};
    if (!told.empty() && told.rbegin()->first >= watchers_.changed_for(connection.uid)) return {};
    connection.session->told[now_known.number] = now_known;
    std::string pdu;
    wire::append_control(pdu, kPid, now_known);
    return pdu;
  }

  // The connection is no more.
  void end(std::uint64_t number) {
    SessionModel* session = connections.at(number).session;
    connections.erase(number);
    if (session == nullptr) return;
    session->connection = 0;
    session->gone_at = now;
    session->is_in_flight_now = false;
    const auto place = place_of(session);
    sessions_.splice(sessions_.end(), sessions_, place);
  }

  void forget_old() {
    for (SessionModel& each : sessions_)
      if (each.connection == 0 && now - each.gone_at >= kVanishing) vanish(each);
    std::erase_if(sessions_, [](const SessionModel& session) {
      return session.connection == 0 && now - session.gone_at >= kMemory;
    });
  }

  std::uint64_t in_flight() const {
    std::uint64_t open = 0;
    for (const SessionModel& each : sessions_)
      if (each.is_in_flight_now)
        for (const auto& [id, its] : each.in_flight) open += its;
    return open;
  }

  std::size_t sessions() const { return sessions_.size(); }
  std::size_t clients() const {
    std::size_t clients = 0;
    for (const auto& [number, each] : connections) clients += each.speaks == Speaks::Version2;
    return clients;
  }

 private:
  static Expected broken() { return {{}, ByeReason::Malformed}; }

  std::list<SessionModel>::iterator place_of(const SessionModel* session) {
    auto place = sessions_.begin();
    while (&*place != session) ++place;
    return place;
  }

  Expected take_data(Connection& connection, std::string_view payload) {
    const auto data = wire::decode_data(payload);
    if (!data) return broken();
    connection.speaks = Speaks::Version1;
    Delta one;
    one.add(data->value);
    totals.add(data->type, std::string(data->tag), one);
    ++records;
    Expected expected;
    if (data->wants_ack)
      wire::append_ack(expected.answer, kPid, static_cast<std::int32_t>(data->type));
    return expected;
  }

  Expected take_hello(std::uint64_t number, Connection& connection, std::string_view payload) {
    const auto hello = wire::decode_hello(payload);
    if (!hello) return broken();
    connection.speaks = Speaks::Version2;
    std::size_t label_bytes = hello->process.size() + hello->service.size();
    for (const auto& [name, value] : hello->labels) label_bytes += name.size() + value.size();
    if (label_bytes > limits_.max_label_bytes) return {{}, ByeReason::TooManyTags};

    wire::Welcome welcome;
    welcome.agent_instance = kInstance;
    welcome.max_pdu_bytes = limits_.max_pdu_bytes;
    welcome.max_tags = limits_.max_tags_per_session;
    welcome.features.set(number_of(wire::Feature::InFlight));
    welcome.features.set(number_of(wire::Feature::Events));
    SessionModel* session = find(connection.user, hello->session);
    welcome.session_known = session != nullptr;
    if (session == nullptr) session = open(connection.user, hello->session);
    if (session == nullptr) return {{}, ByeReason::QuotaExceeded};
    if (session->connection != 0) end(session->connection);
    session->connection = number;
    connection.session = session;
    welcome.last_sequence = session->last_sequence;
    welcome.last_events = session->last_events;
    const wire::Control control = watchers_.control_of(connection.uid);
    const auto& told = session->told;
    const bool knows_some = !told.empty() && !told.rbegin()->second.captures.empty();
    if (!control.captures.empty() || knows_some) {
      welcome.control = control;
      session->told[control.number] = control;
    }
    Expected expected;
    wire::append_welcome(expected.answer, kPid, welcome);
    return expected;
  }

  SessionModel* find(const std::string& user, const wire::SessionId& id) {
    for (SessionModel& each : sessions_)
      if (each.user == user && each.id == id) return &each;
    return nullptr;
  }

  // Null if the user has too many. The list has those whose connection went first in front.
  SessionModel* open(const std::string& user, const wire::SessionId& id) {
    std::size_t has = 0;
    auto oldest = sessions_.end();
    for (auto each = sessions_.begin(); each != sessions_.end(); ++each) {
      if (each->user != user) continue;
      ++has;
      if (each->connection == 0 && oldest == sessions_.end()) oldest = each;
    }
    if (has == limits_.max_sessions_per_user) {
      if (oldest == sessions_.end()) return nullptr;
      vanish(*oldest);
      sessions_.erase(oldest);
    }
    SessionModel& session = sessions_.emplace_back();
    session.user = user;
    session.id = id;
    return &session;
  }

  Expected take_tags(SessionModel& session, std::string_view payload) {
    std::vector<wire::TagDefinition> definitions;
    if (!wire::decode_tags(payload, definitions)) return broken();
    for (const auto& [id, name, unit, description] : definitions) {
      if (const auto known = session.tags.find(id); known != session.tags.end()) {
        if (known->second != name) return broken();
        continue;
      }
      std::size_t of_user = 0;
      std::size_t of_all = 0;
      for (const SessionModel& each : sessions_) {
        of_all += each.tags.size();
        if (each.user == session.user) of_user += each.tags.size();
      }
      if (session.tags.size() == limits_.max_tags_per_session ||
          of_user == limits_.max_tags_per_user || of_all == limits_.max_tags_in_sessions)
        return {{}, ByeReason::TooManyTags};
      session.tags[id] = name;
    }
    return {};
  }

  Expected take_batch(SessionModel& session, std::string_view payload) {
    wire::Batch batch;
    if (!wire::decode_batch(payload, batch)) return broken();
    for (const wire::DeltaEntry& entry : batch.entries)
      if (!session.tags.contains(entry.tag_id)) return broken();
    for (const wire::OpenCount& said : batch.in_flight)
      if (!session.tags.contains(said.tag_id)) return broken();
    ++batches;
    if (batch.sequence > session.last_sequence) {
      session.last_sequence = batch.sequence;
      for (const wire::DeltaEntry& entry : batch.entries) {
        totals.add(entry.type, session.tags[entry.tag_id], entry.delta, entry.is_added);
        add_calls(records, entry.delta.count + entry.delta.aborts);
      }
    } else {
      ++duplicates;
    }
    take_in_flight(session, batch);
    Expected expected;
    wire::append_batch_ack(expected.answer, kPid, batch.sequence);
    return expected;
  }

  Expected take_events(SessionModel& session, std::string_view payload) {
    wire::Events events;
    if (!wire::decode_events(payload, events)) return broken();
    for (const wire::Span& span : events.spans)
      if (!session.tags.contains(span.tag_id)) return broken();
    const auto known = session.told.upper_bound(events.control);
    if (session.told.empty() || events.control > session.told.rbegin()->first) return broken();
    if (events.sequence > session.last_events) {
      session.last_events = events.sequence;
      if (known != session.told.begin())
        for (const wire::Span& span : events.spans)
          watchers_.expect(span, std::prev(known)->second);
    }
    Expected expected;
    wire::append_events_ack(expected.answer, kPid, events.sequence);
    return expected;
  }

  void take_in_flight(SessionModel& session, const wire::Batch& batch) {
    if (batch.in_flight.empty() && !batch.in_flight_anew) return;
    totals.note_in_flight();
    if (batch.in_flight_anew || !session.is_in_flight_now) session.in_flight.clear();
    session.is_in_flight_now = true;
    for (const wire::OpenCount& said : batch.in_flight) {
      if (said.open == 0)
        session.in_flight.erase(said.tag_id);
      else if (session.in_flight.contains(said.tag_id) || has_room_in_flight(session))
        session.in_flight[said.tag_id] = said.open;
      else
        ++left_out;
    }
  }

  bool has_room_in_flight(const SessionModel& session) const {
    std::size_t of_user = 0;
    std::size_t of_all = 0;
    for (const SessionModel& each : sessions_) {
      of_all += each.in_flight.size();
      if (each.user == session.user) of_user += each.in_flight.size();
    }
    return of_all < kMostInFlight && of_user < kMostInFlight / 2 &&
           session.in_flight.size() < limits_.max_tags_per_session;
  }

  void vanish(SessionModel& session) {
    for (const auto& [id, open] : session.in_flight) totals.vanish(open);
    session.in_flight.clear();
  }

  Expected take_bye(Connection& connection, std::string_view payload) {
    const auto reason = wire::decode_bye(payload);
    if (!reason) return broken();
    if (*reason == ByeReason::Done) {
      vanish(*connection.session);
      sessions_.erase(place_of(std::exchange(connection.session, nullptr)));
    }
    return {{}, ByeReason::Done};
  }

  Watchers& watchers_;
  IngestOptions limits_ = ingest_options();
  std::list<SessionModel> sessions_;
};

// The agent's side without its sockets.
class House {
 public:
  House() {
    context_.end_connection = [this](std::uint64_t number) { end(number); };
  }

  void connect(unsigned user) {
    Peer peer;
    peer.number = ++connections_;
    peer.address = user < 2 ? "local:" : "192.0.2.1";
    if (user < 2) peer.uid = user;
    model_.connections[peer.number].user = peer.owner();
    model_.connections[peer.number].uid = peer.uid;
    lines_.emplace(peer.number, Line(context_, peer));
  }

  // The number of one of the connections; 0 if there is none.
  std::uint64_t pick(unsigned choice) const {
    if (lines_.empty()) return 0;
    return std::next(lines_.begin(), choice % static_cast<unsigned>(lines_.size()))->first;
  }

  void say(std::uint64_t number, std::string_view pdu) {
    const wire::Frame frame{PduType{wire::read_u32(pdu.substr(4))}, kPid,
                            pdu.substr(wire::kHeaderBytes)};
    const Expected expected = model_.take(number, frame);
    std::string answer;
    Turn turn(shared_, [] { return now; });
    const auto ending = lines_.at(number).dialogue->take(frame, turn, answer);
    turn.end();
    require(answer == expected.answer);
    require(ending.has_value() == expected.ending.has_value());
    if (!ending) return;
    require(ending->reason == *expected.ending);
    lines_.at(number).dialogue->bye(answer, ending->reason);
    hang_up(number);
  }

  void hang_up(std::uint64_t number) {
    end(number);
    model_.end(number);
  }

  void pass_time(Time time) { now += time; }
  void rotate(std::size_t tags) {
    Turn turn(shared_);
    turn.engine().rotate(now, tags);
    turn.engine().take_discarded();
  }
  void forget_old() {
    Turn turn(shared_, [] { return now; });
    context_.sessions.forget_old(now, turn);
    model_.forget_old();
  }
  void reset() {
    Turn(shared_).engine().reset(now);
    model_.totals.reset();
  }
  void enter_again(std::size_t most) {
    Turn turn(shared_, [] { return now; });
    is_entering_ = context_.sessions.in_flight().enter_again(turn, most);
  }

  void watch(unsigned which) {
    static constexpr const char* kFilters[] = {"tag=a", "tag=b"};
    watchers_.come(kFilters[which & 1],
                   (which & 2) == 0 ? Audience{} : Audience{std::uint32_t{which >> 2 & 1}});
  }
  void watch_no_more() { watchers_.go(); }
  void tell(std::uint64_t number) {
    std::string told;
    const bool has_told = lines_.at(number).dialogue->append_control(told);
    require(has_told != told.empty());
    require(told == model_.control(number));
  }
  std::uint64_t captures_number() const { return shared_.spans.number(); }

  void check() {
    watchers_.check();
    do enter_again(3);
    while (is_entering_);
    const Reader reader(shared_);
    model_.totals.check(reader, model_.in_flight());
    const IngestCounters& counters = reader.ingest_counters();
    require(counters.records == model_.records && counters.batches == model_.batches);
    require(counters.duplicates == model_.duplicates);
    require(counters.in_flight_left_out == model_.left_out);
    require(counters.sessions == model_.sessions());
    std::size_t clients = 0;
    reader.clients([&](std::uint64_t, ClientView&&) { ++clients; });
    require(clients == model_.clients());
  }

 private:
  struct Line {
    Line(DialogueContext& context, const Peer& its_peer)
        : peer(std::make_unique<Peer>(its_peer)),
          dialogue(std::make_unique<Dialogue>(context, *peer)) {}
    std::unique_ptr<Peer> peer;
    std::unique_ptr<Dialogue> dialogue;
  };

  void end(std::uint64_t number) {
    lines_.at(number).dialogue->describe();
    lines_.at(number).dialogue->end(now);
    lines_.erase(number);
  }

  IngestOptions options_ = ingest_options();
  Shared shared_{engine_options(), {}, now};
  DialogueContext context_{.shared = shared_,
                           .options = options_,
                           .agent_instance = kInstance,
                           .pid = kPid,
                           .say = [](const Peer&, const std::string&) {}};
  std::map<std::uint64_t, Line> lines_;
  std::uint64_t connections_ = 0;
  bool is_entering_ = false;
  Watchers watchers_{shared_.spans};
  Model model_{watchers_};
};

// Makes PDUs of the input.
class Talk {
 public:
  explicit Talk(Input& input) : input_(input) {}

  void go_on() {
    const unsigned step = input_.pick(16);
    const std::uint64_t number = house_.pick(input_.byte());
    if (number == 0 || step == 0) return house_.connect(input_.pick(3));
    switch (step) {
      case 1:
      case 2:
        return say(number, hello());
      case 3:
      case 4:
        return say(number, tags());
      case 5:
      case 6:
        return say(number, batch());
      case 7:
        return say(number, in_flight());
      case 8:
        if (!sent_.empty()) say(number, sent_[input_.pick(256) % sent_.size()]);
        return;
      case 9:
        return say(number, data());
      case 10:
        return say(number, bye());
      case 11:
        return say(number, anything());
      case 12:
        return house_.hang_up(number);
      case 13:
        return house_.pass_time(
            Time{static_cast<std::int64_t>(input_.number() >> input_.pick(64) >> 10)});
      case 14:
        return house_.rotate(input_.pick(4));
      case 15:
        return upkeep();
    }
  }

  void check() { house_.check(); }

 private:
  void upkeep() {
    switch (input_.pick(4)) {
      case 0:
        return house_.reset();
      case 1:
        return house_.forget_old();
      case 3:
        return house_.enter_again(input_.pick(3));
      default:
        return spans();
    }
  }

  void spans() {
    const std::uint64_t number = house_.pick(input_.byte());
    switch (input_.pick(8)) {
      case 0:
        return house_.check();
      case 1:
      case 2:
        return house_.watch(input_.pick(8));
      case 3:
        return house_.watch_no_more();
      case 4:
        return house_.tell(number);
      default:
        return say(number, events());
    }
  }

  std::string events() {
    std::string body;
    for (unsigned count = input_.pick(4); count > 0; --count) {
      wire::Span span;
      span.tag_id = input_.pick(8);
      span.trace = {1, 2};
      span.span = ++last_span_;
      span.places = 1 + input_.pick(7);
      wire::append_span(body, span);
    }
    std::vector<wire::CaptureCount> counts;
    if (input_.pick(4) == 0)
      counts.push_back({1 + std::uint64_t{input_.pick(4)}, input_.number() >> 8, input_.byte()});
    events_ += input_.pick(3);
    std::string pdu;
    wire::append_events(pdu, kPid, 1 + events_, house_.captures_number() - input_.pick(4), counts,
                        body);
    return pdu;
  }

  // Now and then a byte of the payload changes on the way.
  void say(std::uint64_t number, std::string pdu) {
    if (input_.pick(16) == 0 && pdu.size() > wire::kHeaderBytes) {
      const std::size_t place = input_.byte() % (pdu.size() - wire::kHeaderBytes);
      pdu[wire::kHeaderBytes + place] = static_cast<char>(input_.byte());
    }
    house_.say(number, pdu);
    sent_.push_back(std::move(pdu));
    if (sent_.size() > kMostSent) sent_.pop_front();
  }

  std::string hello() {
    wire::Hello hello;
    hello.session.fill(static_cast<std::uint8_t>(input_.pick(4)));
    hello.process = std::string(input_.text(input_.pick(9)));
    hello.service = input_.pick(2) == 0 ? "service" : "other";
    if (input_.pick(4) == 0) hello.labels = {{"zone", std::string(input_.text(input_.pick(17)))}};
    std::string pdu;
    wire::append_hello(pdu, kPid, hello);
    return pdu;
  }

  std::string tags() {
    static constexpr const char* kNames[] = {"a",      "b", "a b", "(overflow)",
                                             "\xff\n", "f", "g",   "a{k=%20;l=}"};
    std::vector<wire::TagDefinition> definitions;
    for (unsigned count = input_.pick(4); count > 0; --count) {
      const unsigned which = input_.byte();
      definitions.push_back({which & 7, kNames[(which >> 3 ^ which) & 7],
                             (which & 0x40) != 0 ? "ms" : "", (which & 0x80) != 0 ? "\n\xff" : ""});
    }
    std::string pdu;
    wire::append_tags(pdu, kPid, definitions);
    return pdu;
  }

  std::string batch() {
    std::string body;
    for (unsigned count = input_.pick(4); count > 0; --count) {
      const std::uint32_t tag = input_.pick(8);
      const unsigned kind = input_.pick(8);
      const TraceType type = kTraceTypes[kind % 4];
      Delta delta;
      Histogram histogram;
      if (type == TraceType::Transact) delta.aborts = input_.pick(3);
      for (unsigned values = input_.pick(8); values > 0; --values) {
        const double value = this->value();
        if (delta.add(value)) histogram.add(value);
      }
      if (input_.pick(8) == 0) delta.count += input_.number() >> 4;  // absurd, but not false
      if (kind == 7)  // of a counter; not always sane
        wire::append_increments(body, tag, delta);
      else
        wire::append_delta(body, tag, type, delta, histogram);
    }
    std::uint64_t ages[2] = {age(), age()};
    if (ages[0] < ages[1]) std::swap(ages[0], ages[1]);
    sequence_ += input_.pick(4);
    std::string pdu;
    wire::append_batch(pdu, kPid, sequence_ - input_.pick(3), {{ages[0], ages[1]}, {}}, body);
    return pdu;
  }

  std::string in_flight() {
    std::string in_flight;
    for (unsigned count = input_.pick(5); count > 0; --count) {
      const unsigned which = input_.byte();
      wire::append_open_count(in_flight, {which & 7, which >> 3 & 3, age(), which >> 5});
    }
    const bool anew = input_.pick(4) == 0;
    std::string pdu;
    wire::append_batch(pdu, kPid, sequence_ + input_.pick(2), {{}, {}, in_flight, anew}, {});
    return pdu;
  }

  // Just now, some time ago, or nonsense.
  std::uint64_t age() {
    const unsigned choice = input_.byte();
    if (choice == 255) return input_.number();
    return choice < 128 ? 0 : (choice - 128) * std::uint64_t{250'000'000};
  }

  double value() {
    const unsigned choice = input_.byte();
    if (choice == 255) return input_.real();
    return (static_cast<double>(choice) - 100) / 8;
  }

  std::string data() {
    const std::string tag(1 + input_.pick(2), static_cast<char>('a' + input_.pick(8)));
    const TraceType type = kTraceTypes[input_.pick(4)];
    std::string pdu;
    wire::append_data(pdu, kPid, {type, input_.pick(2) == 0, value(), tag});
    return pdu;
  }

  std::string bye() {
    std::string pdu;
    wire::append_bye(pdu, kPid, ByeReason{input_.pick(3)});
    return pdu;
  }

  std::string anything() {
    std::string pdu;
    wire::append_frame(pdu, PduType{0x7050 + std::uint32_t{input_.pick(32)}}, kPid,
                       input_.text(input_.byte()));
    return pdu;
  }

  static constexpr std::size_t kMostSent = 32;

  Input& input_;
  House house_;
  std::deque<std::string> sent_;
  std::uint64_t sequence_ = 2;
  std::uint64_t events_ = 0;
  std::uint64_t last_span_ = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  Input input(bytes, size);
  now = 1'000s;
  Talk talk(input);
  while (!input.empty()) talk.go_on();
  talk.check();
  return 0;
}
