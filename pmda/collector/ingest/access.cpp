// SPDX-License-Identifier: LGPL-2.1-or-later
#include "collector/ingest/access.hpp"

#include <signal.h>
#include <strings.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <exception>
#include <future>
#include <optional>
#include <thread>
#include <utility>

#include "base/clock.hpp"

namespace pcp::trace::agent {

namespace {

// Removes a keyword with its colon from the front, in upper or lower case.
bool take_keyword(std::string_view& text, std::string_view keyword) {
  if (text.size() < keyword.size() || strncasecmp(text.data(), keyword.data(), keyword.size()) != 0)
    return false;
  text.remove_prefix(keyword.size());
  return true;
}

std::optional<std::uint32_t> parse_limit(std::string_view text) {
  std::uint32_t limit = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), limit);
  if (failure != std::errc{} || end != text.data() + text.size()) return {};
  return limit;
}

Error complaint(std::string_view rule, const std::string& what) {
  return {"access rule \"" + std::string(rule) + "\": " + what};
}

// The look-up thread may outlive this call.
Result<HostPatterns> look_up_within(Duration patience, LookUp look_up, const std::string& name) {
  std::promise<Result<HostPatterns>> promise;
  auto answer = promise.get_future();
  // Signals belong to the main thread.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread([promise = std::move(promise), look_up, name]() mutable {
    try {
      promise.set_value(look_up(name));
    } catch (...) {
      promise.set_exception(std::current_exception());
    }
  }).detach();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (answer.wait_for(patience) == std::future_status::ready) return answer.get();
  return Error{"the look-up of this host got no answer"};
}

}  // namespace

Result<void> AccessList::add(std::string_view text) {
  Rule rule;
  rule.text = text;
  std::string_view host = text;
  rule.allow = take_keyword(host, "allow:");
  if (!rule.allow && !take_keyword(host, "disallow:"))
    return complaint(text, "expected allow:HOST:MAXCONNS, allow:HOST or disallow:HOST");

  const std::size_t colon = host.rfind(':');
  const auto limit = colon == host.npos ? std::nullopt : parse_limit(host.substr(colon + 1));
  if (limit) {
    // fe80::1 is an address, not the host "fe80:" with a limit of 1.
    const std::string_view front = host.substr(0, colon);
    const bool whole_only = parse_address(host) && (!rule.allow || !parse_address(front));
    if (!whole_only) {
      if (!rule.allow) return complaint(text, "disallow:HOST takes no number of connections");
      rule.limit = *limit;
      host = front;
    }
  } else if (colon != host.npos && host.find(':') == colon && colon + 1 < host.size() &&
             host.substr(colon) != ":*") {
    return complaint(text, "MAXCONNS \"" + std::string(host.substr(colon + 1)) +
                               "\" is not a number from 0 (no limit) to 4294967295");
  }
  return insert(std::move(rule), host);
}

Result<void> AccessList::insert(Rule rule, std::string_view host) {
  Result<HostSpec> spec = parse_host_spec(host);
  const std::string shown = "\"" + std::string(host) + "\": ";
  if (!spec) return complaint(rule.text, shown + spec.error().message);
  if (!spec->name.empty()) {
    Result<HostPatterns> addresses = look_up_soon(spec->name);
    if (addresses) {
      spec->patterns = *std::move(addresses);
    } else {
      rule.name = std::move(spec->name);
      rule.problem = complaint(rule.text, shown + addresses.error().message).message +
                     "; will be tried again, and until then " +
                     (rule.is_restrictive() ? "only rules that name an address let other hosts in"
                                            : "the rule lets nobody in");
    }
  }
  if (Result<void> checked = check(rule, spec->patterns); !checked) return checked;
  rule.patterns = std::move(spec->patterns);
  rules_.push_back(std::move(rule));
  return {};
}

Result<HostPatterns> AccessList::look_up_soon(const std::string& name) {
  if (patience_ <= Duration::zero()) return Error{"not looked up yet"};
  const Instant start = steady_now();
  Result<HostPatterns> addresses = look_up_within(patience_, look_up_, name);
  patience_ -= steady_now() - start;
  return addresses;
}

Result<void> AccessList::check(const Rule& rule, const HostPatterns& patterns) const {
  for (const Rule& other : rules_) {
    if (other.allow == rule.allow && other.limit == rule.limit) continue;
    const bool same_host =
        std::find_first_of(other.patterns.begin(), other.patterns.end(), patterns.begin(),
                           patterns.end()) != other.patterns.end();
    if (same_host || (!rule.name.empty() && rule.name == other.name))
      return complaint(rule.text, "contradicts \"" + other.text +
                                      "\", which is about the same host; remove one of them");
  }
  return {};
}

std::vector<AccessList::Waiting> AccessList::waiting() const {
  std::vector<Waiting> waiting;
  for (std::size_t i = 0; i < rules_.size(); ++i)
    if (!rules_[i].name.empty()) waiting.push_back({i, rules_[i].name, rules_[i].problem});
  return waiting;
}

Result<void> AccessList::found(std::size_t index, HostPatterns patterns) {
  Rule& rule = rules_.at(index);
  if (Result<void> checked = check(rule, patterns); !checked) return checked;
  rule.patterns = std::move(patterns);
  rule.name.clear();
  return {};
}

bool AccessList::has_waiting_restriction() const {
  return std::any_of(rules_.begin(), rules_.end(),
                     [](const Rule& rule) { return !rule.name.empty() && rule.is_restrictive(); });
}

Admission AccessList::acquire(std::string_view peer) {
  const auto address = parse_address(peer);
  if (!address) return {Access::NotPermitted, {}};
  const bool own = is_own_address(*address);

  Admission admission;
  const Rule* deciding = nullptr;
  bool is_full = false;  // one of the most specific rules with a limit is at its limit
  unsigned deciding_specificity = 0;
  unsigned limiting_specificity = 0;
  for (const Rule& rule : rules_) {
    bool counted = false;
    for (const HostPattern& pattern : rule.patterns) {
      if (!pattern.matches(*address, own)) continue;
      const unsigned specificity = pattern.specificity();
      if (deciding == nullptr || specificity > deciding_specificity) {
        deciding = &rule;
        deciding_specificity = specificity;
      }
      if (rule.limit > 0 && specificity >= limiting_specificity) {
        const bool others_are_full = is_full && specificity == limiting_specificity;
        is_full = others_are_full || rule.open >= rule.limit;
        limiting_specificity = specificity;
      }
      if (!counted) admission.rules.push_back(static_cast<std::size_t>(&rule - rules_.data()));
      counted = true;
    }
  }

  if (deciding != nullptr ? !deciding->allow : !own) return {Access::NotPermitted, {}};
  if (!own && deciding_specificity < HostPattern::kOneAddress && has_waiting_restriction())
    return {Access::NotPermitted, {}};
  if (is_full) return {Access::TooManyConnections, {}};
  for (const std::size_t rule : admission.rules) ++rules_[rule].open;
  return admission;
}

void AccessList::release(const Admission& admission) {
  for (const std::size_t rule : admission.rules) --rules_[rule].open;
}

}  // namespace pcp::trace::agent
