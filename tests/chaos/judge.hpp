// SPDX-License-Identifier: LGPL-2.1-or-later
// Compares the calls of a schedule's programs with the agents' counts.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "chaos/client.hpp"
#include "stress/agent_host.hpp"

namespace pcp::trace::chaos {

// Receives each difference.
using Complain = std::function<void(const std::string&)>;

class Judge {
 public:
  // `agents`: the totals of each agent in order; the last one was there at the end.
  Judge(const std::vector<ClientPlan>& plans, Ledger& ledger,
        const std::vector<AgentHost::Totals>& agents, const Complain& complain)
      : plans_(plans), ledger_(ledger), agents_(agents), complain_(complain) {}

  // Gives the number of clients that gave up at their end and lost calls.
  std::size_t run() {
    std::set<std::string> known;
    for (const ClientPlan& plan : plans_) {
      for (std::size_t tag = 0; tag < kTags; ++tag) {
        known.insert(tag_name(plan.number, tag));
        for (const TraceType type : kTraceTypes) judge_cell(plan, tag, type);
      }
      if (plan.fate == Fate::Finish) judge_reports(plan);
    }
    for (const auto& totals : agents_)
      for (const auto& [key, total] : totals)
        if (!known.contains(key.second)) complain_("nobody knows the tag '" + key.second + "'");
    return gave_up_.size();
  }

 private:
  void complain_of_loss(const ClientPlan& plan, const std::string& what) {
    if (plan.may_have_given_up())
      gave_up_.insert(plan.number);
    else
      complain_(what);
  }

  void judge_cell(const ClientPlan& plan, std::size_t tag, TraceType type) {
    Cell& cell = ledger_.accounts[plan.number].cell(tag, type);
    const Amount begun = cell.begun;
    const Amount done = cell.done;
    const Amount covered = cell.covered;
    Amount all;
    Amount last;
    const std::string name = tag_name(plan.number, tag);
    for (const auto& totals : agents_) {
      const auto found = totals.find({type, name});
      const Total total = found == totals.end() ? Total() : found->second;
      last = amount_of(total, type);
      all.add(last);
      if (!last.within(begun))
        complain_(text(plan, name, type, "counted more than recorded", last, begun));
      judge_values(name, type, tag, total, begun);
    }
    if (!covered.within(all))
      complain_(text(plan, name, type, "lost what was acknowledged", all, covered));
    if (plan.fate != Fate::Finish && tag != kExecTag) return;
    if (!done.within(all)) complain_of_loss(plan, text(plan, name, type, "lost", all, done));
    if (agents_.size() == 1 && last != done)
      complain_of_loss(plan, text(plan, name, type, "not exact", last, done));
  }

  void judge_values(const std::string& name, TraceType type, std::size_t tag, const Delta& total,
                    const Amount& begun) {
    const auto check = [&](bool good, const char* what) {
      if (!good) complain_(name + ": " + what);
    };
    check(total.nonfinite == 0, "a value that is no number");
    if (total.count == 0) return;
    if (type == TraceType::Transact) check(total.min >= 0 && total.max >= total.min, "durations");
    if (type == TraceType::Observe)
      check(total.min >= 1 && total.max <= 100 && total.last >= 1 && total.last <= 100, "values");
    if (type == TraceType::Counter && !is_added_to(tag))
      check(total.last >= 1 && total.last <= static_cast<double>(begun.count), "last value");
  }

  // Compares the library's own statistics.
  void judge_reports(const ClientPlan& plan) {
    Account& account = ledger_.accounts[plan.number];
    std::uint64_t own = recorded(account, 0, kCommonTags);
    const bool has_reports = plan.way_out == WayOut::Flush;
    if (has_reports) judge_report(plan, "it", account.report, own);
    for (std::size_t kid = 0; has_reports && kid < account.kids; ++kid)
      judge_report(
          plan, "a forked child", account.kid_reports[kid],
          recorded(account, kFirstKidTag + kid * kKidTags, kFirstKidTag + (kid + 1) * kKidTags));
    // Calls that an agent has acknowledged count there, and not at its successors.
    std::uint64_t by_last = 0;
    for (std::size_t tag = 0; tag < kCommonTags; ++tag)
      for (const TraceType type : kTraceTypes) {
        const auto found = agents_.back().find({type, tag_name(plan.number, tag)});
        if (found != agents_.back().end()) by_last += found->second.count + found->second.aborts;
        if (type == TraceType::Counter && !is_added_to(tag) && found != agents_.back().end())
          judge_last(plan, account.cell(tag, type), found->second);
      }
    if (by_last + account.acknowledged_before != own)
      complain_of_loss(plan, client(plan) + ": recorded " + std::to_string(own) +
                                 ", acknowledged by earlier " + "agents " +
                                 std::to_string(account.acknowledged_before) +
                                 ", counted by the last " + std::to_string(by_last));
  }

  void judge_last(const ClientPlan& plan, const Cell& cell, const Delta& total) {
    if (total.count > 0 && total.last != static_cast<double>(cell.done.count.load()))
      complain_of_loss(plan, client(plan) + ": a counter shows " + std::to_string(total.last) +
                                 " after " + std::to_string(cell.done.count));
  }

  static std::uint64_t recorded(Account& account, std::size_t from, std::size_t to) {
    std::uint64_t calls = 0;
    for (std::size_t tag = from; tag < to; ++tag)
      for (const TraceType type : kTraceTypes)
        calls += account.cell(tag, type).done.count + account.cell(tag, type).done.aborts;
    return calls;
  }

  void judge_report(const ClientPlan& plan, const std::string& who, const Report& report,
                    std::uint64_t own) {
    const pmtrace_stats_t& stats = report.stats;
    if (report.given && report.flushed && stats.recorded == own && stats.acknowledged == own &&
        stats.pending == 0 && stats.uncertain == 0 && stats.undeliverable == 0)
      return;
    complain_(client(plan) + ": " + who + (report.given ? " says" : " said nothing:") +
              " flushed " + std::to_string(report.flushed) + ", made " + std::to_string(own) +
              ", recorded " + std::to_string(stats.recorded) + ", acknowledged " +
              std::to_string(stats.acknowledged) + ", pending " + std::to_string(stats.pending) +
              ", uncertain " + std::to_string(stats.uncertain) + ", undeliverable " +
              std::to_string(stats.undeliverable));
  }

  static std::string in_words(const Amount& amount) {
    return std::to_string(amount.count) + "/" + std::to_string(amount.aborts) + "/" +
           std::to_string(amount.sum);
  }

  static Amount amount_of(const Total& total, TraceType type) {
    const bool has_sum = type == TraceType::Observe || type == TraceType::Counter;
    return {total.count, total.aborts, has_sum ? static_cast<std::uint64_t>(total.sum) : 0};
  }

  static std::string client(const ClientPlan& plan) {
    return "client " + std::to_string(plan.number);
  }

  static std::string text(const ClientPlan& plan, const std::string& name, TraceType type,
                          const char* what, const Amount& counted, const Amount& expected) {
    return name.substr(0, 20) + " (" + std::to_string(plan.threads) + " threads, way out " +
           std::to_string(static_cast<int>(plan.way_out)) +
           (plan.has_long_pauses ? ", long pauses" : "") + ", ended in " +
           std::to_string(plan.took.count()) + " ms" + "), type " +
           std::to_string(static_cast<int>(type)) + ": " + what + ": count/aborts/sum " +
           in_words(counted) + " instead of " + in_words(expected);
  }

  const std::vector<ClientPlan>& plans_;
  Ledger& ledger_;
  const std::vector<AgentHost::Totals>& agents_;
  const Complain& complain_;
  std::set<std::size_t> gave_up_;
};

}  // namespace pcp::trace::chaos
