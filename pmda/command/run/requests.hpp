// SPDX-License-Identifier: LGPL-2.1-or-later
// How the slowest requests differ from the others, and those that failed: in which steps their time
// goes, and which notes and labels are frequent. A request is a captured transaction outside all
// others; a step is a transaction inside of it. Label sets are steps of one name, and requests of
// one name unless --by keeps them apart.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace pcp::trace::command {

// Slowest: of a hundred requests one, at most 1,000. It may have failed, too.
enum class RequestGroup : std::size_t { All, Slowest, Failed };
inline constexpr std::array kRequestGroups{RequestGroup::All, RequestGroup::Slowest,
                                           RequestGroup::Failed};

// A part of a group's requests that has a frequent trait, at least.
inline constexpr double kFrequent = 0.2;

inline double share(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

struct OfGroups {
  std::array<std::uint64_t, kRequestGroups.size()> numbers{};

  std::uint64_t& of(RequestGroup group) { return numbers[static_cast<std::size_t>(group)]; }
  std::uint64_t of(RequestGroup group) const { return numbers[static_cast<std::size_t>(group)]; }
  // All that are not in the group.
  std::uint64_t beside(RequestGroup group) const { return of(RequestGroup::All) - of(group); }

  // The share of the whole: in the group, and in all others.
  double share_in(RequestGroup group, const OfGroups& whole) const {
    return share(of(group), whole.of(group));
  }
  double share_beside(RequestGroup group, const OfGroups& whole) const {
    return share(beside(group), whole.beside(group));
  }

  bool operator==(const OfGroups&) const = default;
};

// Its self time: while it ran, and nothing inside of it.
struct RequestStep {
  std::string name;  // without labels; empty: the request itself
  OfGroups self_ns{};
};

// A note, a label, or the reason of a failure, anywhere in a request.
struct RequestTrait {
  std::string key;
  std::string value;
  OfGroups requests{};

  bool operator==(const RequestTrait&) const = default;
};

// All captured requests of one tag.
struct Requests {
  std::string tag;
  OfGroups count{};
  OfGroups time_ns{};
  std::uint64_t slowest_from_ns = 0;  // the least time of the slowest
  std::uint64_t lack_notes = 0;       // requests: their program had no room for some notes
  std::vector<RequestStep> steps;     // the most time first; the least ones together
  std::vector<RequestTrait> traits;   // the frequent ones of some group

  // There is something to compare.
  bool has(RequestGroup group) const { return count.of(group) > 0 && count.beside(group) > 0; }

  // Three steps: those that take a request of the group more time than the others, by the
  // difference, and the one that takes the group the most.
  std::vector<const RequestStep*> steps_of(RequestGroup group) const;
  // The traits that are frequent in the group, and rarer outside, the most telling first.
  std::vector<const RequestTrait*> traits_of(RequestGroup group) const;
};

}  // namespace pcp::trace::command
