// SPDX-License-Identifier: LGPL-2.1-or-later
// The monitors of a schedule, and the spans that they have seen: two from the beginning of each
// agent to its end, one of them slow, and others that come and go.
//
// Each span that a monitor sees was captured, comes once, and has the right parent. Each span that
// the first two do not see is reported to them as missed.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <unordered_set>
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
    monitors_[kOther].filter = asked_filter(1) + (random_.chance(50) ? " slower=20us" : limit);
    monitors_[kOther].asked = 1;
    monitors_[kShare].filter = asked_filter(2) + " share=30% limit=100/s";
    monitors_[kShare].asked = 2;
  }

  // Both while no client is connected; end_life() may also follow the agent's stop.
  void begin_life() {
    agent_.set_span_bytes(span_bytes_);
    open(kFast);
    open(kSlow);
  }

  void end_life(const Complain& complain) {
    const std::uint64_t captured = agent_.captured();
    for (std::size_t number = 0; number < kMonitors; ++number) {
      Monitor& monitor = monitors_[number];
      if (!monitor.is_open) continue;
      read_all(number);
      if (is_permanent(number) && !others_come_ &&
          monitor.seen_in_life + monitor.missed_in_life != captured)
        complain(name_of(number) + " has seen " + std::to_string(monitor.seen_in_life) +
                 " and missed " + std::to_string(monitor.missed_in_life) +
                 ", but programs captured " + std::to_string(captured));
      close(number);
    }
  }

  // To be called now and then.
  void step() {
    if (random_.chance(70)) read(kFast, 1000);
    if (random_.chance(4)) read(kSlow, random_.between(1, 300));
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
      judge_seen(number, known, complain);
      if (!is_permanent(number)) continue;
      figures_.missed += monitors_[number].missed;
      if (is_one_life) judge_missed(number, plans, ledger, complain);
    }
  }

 private:
  static constexpr std::size_t kMonitors = 5;
  enum : std::size_t { kFast, kSlow, kSame, kOther, kShare };

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
  bool is_permanent(std::size_t number) const { return number <= kSlow; }
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

  void judge_seen(std::size_t number, const std::unordered_map<std::uint64_t, SpanEntry*>& known,
                  const Complain& complain) {
    std::unordered_set<std::uint64_t> ids;
    std::uint64_t twice = 0;
    std::uint64_t unknown = 0;
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
    if (twice + unknown + wrong > 0)
      complain(name_of(number) + " has seen " + std::to_string(twice) + " transactions twice, " +
               std::to_string(unknown) + " that nobody captured, and " + std::to_string(wrong) +
               " with another parent or that it did not ask for");
  }

  // Only bounds are known: a program that dies or gives up takes unsent spans along without a
  // report, and before a thread's first captured transaction it may not have known of the capture.
  void judge_missed(std::size_t number, const std::vector<ClientPlan>& plans, Ledger& ledger,
                    const Complain& complain) {
    const Monitor& monitor = monitors_[number];
    std::unordered_set<std::uint64_t> seen;
    for (const AgentHost::Span& span : monitor.seen) seen.insert(span.id);
    std::uint64_t least = 0;
    std::uint64_t most = 0;
    for (const ClientPlan& plan : plans) {
      SpanLedger& spans = ledger.accounts[plan.number].spans;
      const bool ends_well = plan.fate == Fate::Finish && !plan.may_have_given_up();
      const auto note = [&](std::uint64_t count, bool is_certain) {
        least += is_certain && ends_well ? count : 0;
        most += count;
      };
      for (SpanEntry& entry : spans.entries)
        if (entry.id != 0 && entry.asked == monitor.asked && !seen.contains(entry.id))
          note(1, entry.has_ended);
      for (const auto& process : spans.not_captured) {
        note(process[monitor.asked].knowing, true);
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
