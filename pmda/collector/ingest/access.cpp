// SPDX-License-Identifier: LGPL-2.1-or-later
#include "collector/ingest/access.hpp"

#include <strings.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

namespace pcp::trace::agent {

namespace {

// Takes a keyword and its colon off the front, in any case of letters.
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

}  // namespace

Result<void> AccessList::add(std::string_view text) {
  Rule rule;
  rule.text = text;
  std::string_view host = text;
  rule.allow = take_keyword(host, "allow:");
  if (!rule.allow && !take_keyword(host, "disallow:"))
    return complaint(text, "valid are allow:HOST:MAXCONNS, allow:HOST and disallow:HOST");

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
  Result<HostPatterns> patterns = parse_host_spec(host);
  if (!patterns)
    return complaint(rule.text, "\"" + std::string(host) + "\": " + patterns.error().message);
  for (const Rule& other : rules_) {
    const bool agrees = other.allow == rule.allow && other.limit == rule.limit;
    for (const HostPattern& pattern : other.patterns) {
      if (std::find(patterns->begin(), patterns->end(), pattern) == patterns->end()) continue;
      if (!agrees)
        return complaint(rule.text, "contradicts \"" + other.text +
                                        "\", which is about the same host; one of them must go");
    }
  }
  rule.patterns = *std::move(patterns);
  rules_.push_back(std::move(rule));
  return {};
}

Admission AccessList::acquire(std::string_view peer) {
  const auto address = parse_address(peer);
  if (!address) return {Access::NotPermitted, {}};
  const bool own = is_own_address(*address);

  Admission admission;
  const Rule* deciding = nullptr;
  bool is_full = false;  // one of the most specific rules with a limit
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
  if (is_full) return {Access::TooManyConnections, {}};
  for (const std::size_t rule : admission.rules) ++rules_[rule].open;
  return admission;
}

void AccessList::release(const Admission& admission) {
  for (const std::size_t rule : admission.rules) --rules_[rule].open;
}

}  // namespace pcp::trace::agent
