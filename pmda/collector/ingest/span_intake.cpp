// SPDX-License-Identifier: LGPL-2.1-or-later
#include "collector/ingest/span_intake.hpp"

#include <malloc.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/clock.hpp"
#include "base/escape.hpp"
#include "collector/spans/span_text.hpp"

namespace pcp::trace::agent {

namespace {

// Spans per second: the minimum for each process.
constexpr std::uint32_t kLeastASecond = 100;

// The agent looks every second. As limits are a second's, too, a process that lived for less counts
// for what it sent.
constexpr Duration kShortestRound = std::chrono::milliseconds(900);

// A share does not rise before that leaves this part of the whole unused: shares that change a
// little need no CONTROL to each process.
constexpr std::uint32_t kUnused = 8;

// The shortest time per captured span of a process (its threads share the count), and the time that
// PCP_TRACE_CAPTURE lets a process capture before it is told. Used to reject impossible counts.
constexpr Duration kLeastBetweenSpans = std::chrono::nanoseconds(10);
constexpr Duration kCapturedFromStart = std::chrono::seconds(10);

// Some megabytes of text. At this count the cache is cleared.
constexpr std::size_t kMostNames = 10'000;

// Wanted traces that a new connection is told.
constexpr std::uint64_t kMostWantedAtFirst = wire::kMaxWanted;

constexpr std::size_t kMostReasonBytes = wire::kMaxAttributeTextLength;

std::shared_ptr<const SpanSource> source_of(const wire::Hello& hello, const Peer& peer) {
  SpanSource source;
  source.pid = peer.pid != 0 ? peer.pid : hello.pid;
  source.service = printable(hello.service, kMaxShownBytes);
  if (hello.process != hello.service) source.process = printable(hello.process, kMaxShownBytes);
  if (peer.is_elsewhere()) source.host = peer.address;
  return std::make_shared<const SpanSource>(std::move(source));
}

// Max-min fairness: the limit for each of these demands, so that together they get `room`. Those
// below it are met; `whole` if all are. Requires: sorted.
std::uint32_t level(const std::vector<std::uint64_t>& demands, std::uint64_t room,
                    std::uint32_t whole) {
  std::size_t left = demands.size();
  for (const std::uint64_t demand : demands) {
    if (demand > room / left) return static_cast<std::uint32_t>(room / left);
    room -= demand;
    --left;
  }
  return whole;
}

bool has_fallen(const wire::CaptureCount& before, const wire::CaptureCount& now) {
  return now.captured < before.captured || now.missed_full < before.missed_full ||
         now.missed_limit < before.missed_limit || now.missed_waiting < before.missed_waiting ||
         now.missed_away < before.missed_away;
}

}  // namespace

SpanIntake::SpanIntake(SharedSpans& spans, TagFinder& finder, std::uint32_t most_a_second)
    : spans_(spans),
      finder_(finder),
      captures_(spans.captures()),
      most_of_all_(most_a_second),
      most_of_a_user_(most_a_second) {}

void SpanIntake::introduce(Session& session, const wire::Hello& hello, const Peer& peer) {
  session.spans.source = source_of(hello, peer);
  const std::uint64_t end = spans_.end_of_wanted();
  session.spans.wanted_told = end - std::min(end, kMostWantedAtFirst);
}

const CaptureTable& SpanIntake::captures() {
  if (captures_->number() != spans_.number()) captures_ = spans_.captures();
  return *captures_;
}

bool SpanIntake::has_changed() {
  const std::uint64_t number = captures().number();
  const bool captures_have = std::exchange(looked_at_, number) != number;
  const std::uint64_t end = spans_.end_of_wanted();
  const bool wanted_have = std::exchange(wanted_looked_at_, end) != end;
  return std::exchange(shares_have_changed_, false) || captures_have || wanted_have;
}

std::optional<wire::Control> SpanIntake::news_for(Session& session, const Peer& peer) {
  if (session.spans.told >= captures().changed_for(peer.uid) &&
      session.spans.most_a_second == most_a_second(session))
    return {};
  return control_for(session, peer);
}

// No captures before or now: no CONTROL.
std::optional<wire::Control> SpanIntake::control_for(Session& session, const Peer& peer) {
  const CaptureBits seen = captures().seen_by(peer.uid);
  if (seen == 0 && !session.spans.knows_some) return {};
  return make_control(session, seen);
}

wire::Control SpanIntake::make_control(Session& session, CaptureBits seen) {
  SessionSpans& its = session.spans;
  wire::Control control;
  control.number = captures_->number();
  control.most_a_second = its.most_a_second = most_a_second(session);
  std::map<std::uint64_t, CaptureSaid> said;
  for (std::size_t bit = 0; bit < wire::kMaxCaptures; ++bit) {
    if ((seen >> bit & 1) == 0) continue;
    const ActiveCapture& capture = captures_->at(bit);
    control.captures.push_back(capture.asked);
    const auto known = its.said.find(capture.id);
    said[capture.id] =
        known == its.said.end() ? CaptureSaid{.told_at = steady_now()} : known->second;
  }
  its.said = std::move(said);
  its.told = control.number;
  its.knows_some = seen != 0;
  return control;
}

std::optional<std::string> SpanIntake::accept(const wire::Events& events, Session& session,
                                              const Peer& peer) {
  SessionSpans& its = session.spans;
  if (events.control == 0 || events.control > its.told)
    return "by CONTROL " + std::to_string(events.control) + ", which it was not sent";
  if (events.sequence <= its.last_events) return {};  // already taken
  const SendingProcess process{peer.uid, session.user->name, session.id};
  for (const wire::CaptureCount& count : events.counts)
    if (!note(count, its, process)) return "that count more than a process can capture";
  want(events.wanted, events.control, process);
  taken_.clear();
  std::vector<StoredSpan> held;
  for (const wire::Span& span : events.spans) {
    const std::string_view tag = session.tags.find(span.tag_id)->name;
    auto& spans = (span.flags & wire::kIsHeld) != 0 ? held : taken_;
    spans.push_back(stored(span, tag, session.split, its.source));
    spans.back().flags &= ~(wire::kIsHeld | wire::kWasOpen);
  }
  its.last_events = events.sequence;
  hand_over(taken_, held, events.control, process);
  return {};
}

void SpanIntake::hand_over(std::vector<StoredSpan>& taken, std::vector<StoredSpan>& held,
                           std::uint64_t control, const SendingProcess& process) {
  if (!taken.empty()) spans_.add(taken, control, process);
  if (!held.empty()) spans_.hold(held, control, process);
  has_taken_some_ |= !taken.empty() || !held.empty();
}

StoredSpan SpanIntake::stored(const wire::Span& span, std::string_view tag, const Split& split,
                              const std::shared_ptr<const SpanSource>& source) {
  StoredSpan stored;
  stored.kind = span.kind;
  stored.aborted = span.aborted;
  stored.capture_bits = span.capture_bits;
  stored.flags = span.flags;
  stored.tid = span.tid;
  stored.left_out = span.left_out;
  stored.begin_ns = span.begin_ns;
  stored.duration_ns = span.duration_ns;
  stored.trace_high = span.trace.high;
  stored.trace_low = span.trace.low;
  stored.span = span.span;
  stored.parent = span.parent;
  stored.value = span.value;
  stored.source = source;
  stored.tag = shown(finder_.split(split, tag));
  if (!span.reason.empty()) stored.reason = printable(span.reason, kMostReasonBytes);
  for (const wire::SpanAttribute& attribute : span.attributes) {
    const bool fits = attribute.number
                          ? append_attribute(stored.attributes, attribute.key, *attribute.number)
                          : append_attribute(stored.attributes, attribute.key, attribute.text);
    if (!fits) ++stored.left_out;
  }
  for (const wire::SpanLink& link : span.links)
    append_link(stored.links, link.trace.high, link.trace.low, link.span);
  return stored;
}

const std::shared_ptr<const std::string>& SpanIntake::shown(std::string_view tag) {
  if (const auto known = shown_.find(tag); known != shown_.end()) return known->second;
  if (shown_.size() >= kMostNames) shown_.clear();
  auto text = std::make_shared<const std::string>(shown_tag(tag));
  return shown_.emplace(tag, std::move(text)).first->second;
}

bool SpanIntake::note(const wire::CaptureCount& count, SessionSpans& its,
                      const SendingProcess& process) {
  const auto bit = captures().bit_of(count.capture);
  if (!bit || !captures_->at(*bit).audience.includes(process.uid)) return true;
  const auto known = its.said.find(count.capture);
  if (known == its.said.end()) return true;
  CaptureSaid& said = known->second;
  // Fallen counts mean that the process had forgotten the capture.
  const wire::CaptureCount before = has_fallen(said.last, count) ? wire::CaptureCount{} : said.last;
  const CaptureNews news{
      count.capture,
      count.captured - before.captured,
      {count.missed_full - before.missed_full, count.missed_limit - before.missed_limit,
       count.missed_waiting - before.missed_waiting, count.missed_away - before.missed_away},
      process.uid != kUnknownUid ? count.threshold : 0};  // an address is of several users
  const std::uint64_t more = std::max(
      news.captured, std::accumulate(news.missed.begin(), news.missed.end(), std::uint64_t{0}));
  const Duration since = steady_now() - said.told_at + kCapturedFromStart;
  if (more > static_cast<std::uint64_t>(since / kLeastBetweenSpans) - said.taken) return false;
  said.taken += more;
  said.last = count;
  if (std::exchange(said.round, round_began_) != round_began_) said.in_round = 0;
  said.in_round += news.captured;
  std::uint64_t& wanted = senders_of(process.user).wanted[process.session];
  wanted = std::max(wanted, std::min<std::uint64_t>(said.in_round, captures_->at(*bit).limit));
  spans_.note(news, process.user);
  return true;
}

void SpanIntake::want(const std::vector<wire::WantedTrace>& traces, std::uint64_t control,
                      const SendingProcess& process) {
  if (traces.empty()) return;
  Senders& user = senders_of(process.user);
  std::vector<wire::WantedTrace> taken;
  std::map<std::size_t, std::uint64_t> missed;  // by the bit
  for (const wire::WantedTrace& trace : traces) {
    const CaptureBits bits = captures().valid_bits(trace.capture_bits, control, process.uid);
    if (bits == 0) continue;
    if (user.wanted_traces == kMostWantedOfAUser) {
      wire::for_each_bit(bits, [&](std::size_t bit) { ++missed[bit]; });
      continue;
    }
    ++user.wanted_traces;
    taken.push_back({trace.hash, bits});
  }
  if (!taken.empty()) spans_.want(taken, control);
  for (const auto& [bit, count] : missed) note_missed(bit, count, MissedCause::Limit, process.user);
}

// Programs captured transactions, but parts of their traces in other processes were not asked for.
void SpanIntake::note_missed(std::size_t bit, std::uint64_t traces, MissedCause cause,
                             const std::string& user) {
  CaptureNews news{captures().at(bit).id};
  news.missed[static_cast<std::size_t>(cause)] = traces;
  spans_.note(news, user);
}

void SpanIntake::append_wanted(std::string& out, std::uint32_t pid, Session& session,
                               const Peer& peer) {
  SessionSpans& its = session.spans;
  if (its.wanted_told == spans_.end_of_wanted()) return;
  bool has_lost = false;
  const std::vector<Wanted> news = spans_.wanted_from(its.wanted_told, has_lost);
  if (has_lost)  // it did not read for some seconds
    wire::for_each_bit(
        captures().valid_bits(~CaptureBits{0}, its.told, peer.uid),
        [&](std::size_t bit) { note_missed(bit, 1, MissedCause::Away, session.user->name); });
  std::vector<wire::WantedTrace> told;
  const auto append = [&] {
    if (!told.empty()) wire::append_wanted(out, pid, told);
    told.clear();
  };
  for (const Wanted& next : news) {
    const CaptureBits bits =
        captures().valid_bits(next.trace.capture_bits, std::min(next.number, its.told), peer.uid);
    if (bits != 0) told.push_back({next.trace.hash, bits});
    if (told.size() == wire::kMaxWanted) append();
  }
  append();
}

SpanIntake::Senders& SpanIntake::senders_of(const std::string& user) {
  return senders_.try_emplace(user, Senders{{}, most_of_a_user_}).first->second;
}

std::uint32_t SpanIntake::most_a_second(const Session& session) const {
  const auto its = senders_.find(session.user->name);
  return its == senders_.end() ? most_of_a_user_ : its->second.most_a_second;
}

void SpanIntake::set_share(std::uint32_t& share, std::uint32_t whole) {
  std::sort(demands_.begin(), demands_.end());
  const std::uint32_t least = level(demands_, whole - whole / kUnused, whole);
  const std::uint32_t most = level(demands_, whole, whole);
  const std::uint32_t part = std::max(std::clamp(share, least, most), kLeastASecond);
  shares_have_changed_ |= std::exchange(share, part) != part;
}

// Divides first among users, so that no user gains by having many processes.
void SpanIntake::share_out(Duration round) {
  const double seconds = std::chrono::duration<double>(round).count();
  const auto a_second = [seconds](std::uint64_t wanted) {
    return static_cast<std::uint64_t>(static_cast<double>(wanted) / seconds);
  };
  demands_.clear();
  for (const auto& [user, its] : senders_) {
    std::uint64_t all = 0;
    for (const auto& [session, wanted] : its.wanted) all += a_second(wanted);
    demands_.push_back(all);
  }
  set_share(most_of_a_user_, most_of_all_);
  for (auto& [user, its] : senders_) {
    demands_.clear();
    for (const auto& [session, wanted] : its.wanted) demands_.push_back(a_second(wanted));
    set_share(its.most_a_second, most_of_a_user_);
  }
}

bool SpanIntake::tick(Instant now) {
  if (const Duration round = now - round_began_; round >= kShortestRound) {
    share_out(round);
    std::erase_if(senders_, [](const auto& each) {
      return each.second.wanted.empty() && each.second.wanted_traces == 0;
    });
    for (auto& [user, its] : senders_) {
      its.wanted.clear();
      its.wanted_traces = 0;
    }
    round_began_ = now;
  }
  if (spans_.sweep()) return true;
  // No capture is left, so nothing is kept; but libc would keep most of the memory.
  if (captures().count() == 0 && std::exchange(has_taken_some_, false)) ::malloc_trim(0);
  return false;
}

}  // namespace pcp::trace::agent
