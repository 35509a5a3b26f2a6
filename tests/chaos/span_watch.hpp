// SPDX-License-Identifier: LGPL-2.1-or-later
// The monitors of a schedule, and the spans that they have seen: four from the beginning of each
// agent to its end, one of them slow, and two that want whole requests; and others that come and
// go.
//
// Each span that a monitor sees was captured, comes once, and has the right parent. Each span that
// the first four do not see is reported to them as missed, of requests if they want them. They see
// no other request.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "chaos/client.hpp"
#include "chaos/judge.hpp"
#include "chaos/random.hpp"
#include "chaos/schedule.hpp"
#include "stress/agent_host.hpp"

namespace pcp::trace::chaos {

class SpanWatch {
 public:
  SpanWatch(AgentHost& agent, Random random, Figures& figures)
      : agent_(agent), random_(random), figures_(figures) {
    others_come_ = random_.chance(60);
    span_bytes_ = random_.chance(50) ? std::size_t{64} << 20 : random_.between(4, 400) * 1024;
    const std::string limit = random_.chance(75) ? " limit=1000000/s" : " limit=200/s";
    for (const std::size_t number : {kFast, kSlow, kSame})
      monitors_[number].filter = asked_filter(0) + limit;
    for (const auto& [number, reason] : {std::pair{kFailed, " failed"}, {kDied, " died"}}) {
      monitors_[number].filter = asked_filter(kWhole) + reason + " limit=1000000/s";
      monitors_[number].asked = kWhole;
    }
    monitors_[kOther].filter = asked_filter(1) + (random_.chance(50) ? " slower=20us" : limit);
    monitors_[kOther].asked = 1;
    monitors_[kShare].filter = asked_filter(2) + " share=30% limit=100/s";
    monitors_[kShare].asked = 2;
  }

  // Both while no client is connected; end_life() may also follow the agent's stop.
  void begin_life() {
    agent_.set_span_bytes(span_bytes_);
    for (std::size_t number = 0; number < kPermanent; ++number) open(number);
  }

  void end_life(const Complain& complain) {
    const std::uint64_t captured = agent_.captured();
    for (std::size_t number = 0; number < kMonitors; ++number)
      if (monitors_[number].is_open) read_all(number);
    const auto known = [this](std::size_t number) {
      return monitors_[number].seen_in_life + monitors_[number].missed_in_life;
    };
    for (const std::size_t number : {kFast, kSlow})
      if (!others_come_ && known(number) + known(kFailed) + known(kDied) != captured)
        complain(name_of(number) + " has seen or missed " + std::to_string(known(number)) +
                 ", those of whole requests " + std::to_string(known(kFailed)) + " and " +
                 std::to_string(known(kDied)) + ", but programs captured " +
                 std::to_string(captured));
    for (std::size_t number = 0; number < kMonitors; ++number)
      if (monitors_[number].is_open) close(number);
  }

  // To be called now and then.
  void step() {
    if (random_.chance(70)) read(kFast, 1000);
    if (random_.chance(4)) read(kSlow, random_.between(1, 300));
    for (const std::size_t number : {kFailed, kDied})
      if (random_.chance(20)) read(number, 1000);
    if (!others_come_) return;
    for (const std::size_t number : {kSame, kOther, kShare}) {
      const bool is_open = monitors_[number].is_open;
      if (is_open && random_.chance(50)) read(number, 1000);
      if (random_.chance(20)) is_open ? close(number) : open(number);
    }
  }

  // To be called last. `is_one_life`: there was only one agent.
  void judge(const std::vector<ClientPlan>& plans, Ledger& ledger, bool is_one_life,
             const Complain& complain) {
    std::unordered_map<std::uint64_t, SpanEntry*> known;
    for (const ClientPlan& plan : plans)
      for (SpanEntry& entry : ledger.accounts[plan.number].spans.entries)
        if (entry.id != 0 && !known.emplace(entry.id, &entry).second)
          complain("two transactions have the same id");
    figures_.captured = known.size();
    figures_.seen = monitors_[kFast].seen.size();
    for (std::size_t number = 0; number < kMonitors; ++number) {
      judge_seen(number, known, plans, complain);
      if (!is_permanent(number)) continue;
      figures_.missed += monitors_[number].missed;
      if (is_one_life) judge_missed(number, plans, ledger, complain);
    }
    for (const std::size_t number : {kFailed, kDied})
      figures_.whole += monitors_[number].seen.size();
  }

 private:
  enum : std::size_t { kFast, kSlow, kFailed, kDied, kSame, kOther, kShare, kMonitors };
  static constexpr std::size_t kPermanent = kSame;
  static_assert(kMonitors <= AgentHost::kMaxMonitors);

  struct Monitor {
    std::string filter;
    std::uint8_t asked = 0;
    bool is_open = false;
    std::uint64_t missed = 0;
    std::uint64_t seen_in_life = 0;
    std::uint64_t missed_in_life = 0;
    std::vector<AgentHost::Span> seen;
  };

  static std::string name_of(std::size_t monitor) { return "monitor " + std::to_string(monitor); }
  static bool is_permanent(std::size_t number) { return number < kPermanent; }
  static bool wants_whole(std::size_t number) { return number == kFailed || number == kDied; }
  void open(std::size_t number) {
    Monitor& monitor = monitors_[number];
    monitor.is_open = agent_.open_monitor(number, monitor.filter);
    monitor.seen_in_life = monitor.missed_in_life = 0;
    figures_.monitors += is_permanent(number) ? 0 : 1;
  }

  void close(std::size_t number) {
    agent_.close_monitor(number);
    monitors_[number].is_open = false;
  }

  // Gives whether there is more.
  bool read(std::size_t number, std::size_t most) {
    Monitor& monitor = monitors_[number];
    const AgentHost::Spans read = agent_.read_monitor(number, most);
    monitor.seen.insert(monitor.seen.end(), read.spans.begin(), read.spans.end());
    monitor.seen_in_life += read.spans.size();
    monitor.missed += read.missed;
    monitor.missed_in_life += read.missed;
    return !read.is_all;
  }

  void read_all(std::size_t number) {
    while (read(number, 1000)) continue;
  }

  // A thread that is killed may have begun one that it could not note.
  void judge_seen(std::size_t number, const std::unordered_map<std::uint64_t, SpanEntry*>& known,
                  const std::vector<ClientPlan>& plans, const Complain& complain) {
    std::unordered_set<std::uint64_t> ids;
    std::uint64_t twice = 0;
    std::uint64_t unknown = 0;
    std::uint64_t may_be_unknown = 0;
    for (const ClientPlan& plan : plans)
      may_be_unknown += wants_whole(number) && plan.is_direct && plan.fate != Fate::Finish
                            ? std::max<std::size_t>(plan.threads, 1)
                            : 0;
    std::uint64_t wrong = 0;
    for (const AgentHost::Span& span : monitors_[number].seen) {
      twice += ids.insert(span.id).second ? 0 : 1;
      const auto found = known.find(span.id);
      if (found == known.end())
        ++unknown;
      else
        wrong +=
            found->second->parent == span.parent && found->second->asked == monitors_[number].asked
                ? 0
                : 1;
    }
    if (unknown <= may_be_unknown) unknown = 0;
    if (twice + unknown + wrong > 0)
      complain(name_of(number) + " has seen " + std::to_string(twice) + " transactions twice, " +
               std::to_string(unknown) + " that nobody captured, and " + std::to_string(wrong) +
               " with another parent or that it did not ask for");
  }

  // Whether the monitor wants this one's request.
  enum class Wish { No, Perhaps, Yes };
  using Wishes = std::unordered_map<std::uint64_t, Wish>;  // by trace

  Wishes wishes_of(std::size_t number, const std::vector<ClientPlan>& plans, Ledger& ledger) {
    Wishes wishes;
    std::unordered_set<std::uint64_t> known;
    for (const ClientPlan& plan : plans)
      for (SpanEntry& entry : ledger.accounts[plan.number].spans.entries) {
        if (entry.id == 0 || entry.asked != kWhole) continue;
        known.insert(entry.id);
        const bool is_reason = number == kFailed ? entry.has_failed.load() : !entry.has_ended;
        if (!is_reason) continue;
        Wish& wish = wishes[entry.trace];
        wish = std::max(wish, plan.keeps_its_spans() ? Wish::Yes : Wish::Perhaps);
      }
    for (const AgentHost::Span& span : monitors_[number].seen)
      if (!known.contains(span.id)) wishes.try_emplace(span.trace, Wish::Perhaps);
    return wishes;
  }

  // The agent gets all that nobody wants yet: a process that ends in order gives it 256 KiB.
  static bool leaves_all(const ClientPlan& plan, SpanLedger& spans) {
    constexpr std::ptrdiff_t kMost = 1'500;
    return plan.fate != Fate::Finish ||
           (!plan.holds_little && std::ranges::count_if(spans.entries, [](const SpanEntry& entry) {
                                    return entry.id != 0;
                                  }) <= kMost);
  }

  // Only bounds are known: a program that dies or gives up takes unsent spans along without a
  // report, and before a thread's first captured transaction it may not have known of the capture.
  void judge_missed(std::size_t number, const std::vector<ClientPlan>& plans, Ledger& ledger,
                    const Complain& complain) {
    const Monitor& monitor = monitors_[number];
    const Wishes wishes = wants_whole(number) ? wishes_of(number, plans, ledger) : Wishes();
    const auto wish_for = [&](std::uint64_t trace) {
      if (!wants_whole(number)) return Wish::Yes;
      const auto found = wishes.find(trace);
      return found != wishes.end() ? found->second : Wish::No;
    };
    std::unordered_set<std::uint64_t> seen;
    std::uint64_t unwanted = 0;
    for (const AgentHost::Span& span : monitor.seen) {
      seen.insert(span.id);
      unwanted += wish_for(span.trace) == Wish::No ? 1 : 0;
    }
    if (unwanted > 0)
      complain(name_of(number) + " has seen " + std::to_string(unwanted) +
               " transactions of requests that it does not want");
    std::uint64_t least = 0;
    std::uint64_t most = 0;
    for (const ClientPlan& plan : plans) {
      SpanLedger& spans = ledger.accounts[plan.number].spans;
      const bool is_exact =
          plan.keeps_its_spans() && (!wants_whole(number) || leaves_all(plan, spans));
      const auto note = [&](std::uint64_t count, bool is_certain) {
        least += is_certain && is_exact ? count : 0;
        most += count;
      };
      for (SpanEntry& entry : spans.entries) {
        if (entry.id == 0 || entry.asked != monitor.asked || seen.contains(entry.id)) continue;
        const Wish wish = wish_for(entry.trace);
        if (wish == Wish::No) continue;
        note(1, wish == Wish::Yes && (entry.has_ended || number == kDied));
      }
      for (const auto& process : spans.not_captured) {
        note(process[monitor.asked].knowing, !wants_whole(number));
        note(process[monitor.asked].perhaps, false);
      }
    }
    if (monitor.missed < least || monitor.missed > most)
      complain(name_of(number) + " was told that it missed " + std::to_string(monitor.missed) +
               " transactions, but it missed " + std::to_string(least) + " to " +
               std::to_string(most));
  }

  AgentHost& agent_;
  Random random_;
  bool others_come_;
  std::size_t span_bytes_;
  std::array<Monitor, kMonitors> monitors_;
  Figures& figures_;
};

}  // namespace pcp::trace::chaos
