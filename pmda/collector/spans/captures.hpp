// SPDX-License-Identifier: LGPL-2.1-or-later
// Who has asked for spans, and for which. A capture is a filter and whose processes it is about;
// those who ask for the same share one of 32 places, which is a bit of each span's mask. Each
// change gets a number, by which a process says later what it knew of.
//
// A value, to be copied. Filters are canonical: equal ones have equal text.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "collector/spans/stored_span.hpp"
#include "wire/result.hpp"

namespace pcp::trace::agent {

// Whose processes a capture is about: those of one uid, or without it everybody's.
struct Audience {
  std::optional<std::uint32_t> uid;

  bool includes(std::uint32_t process_uid) const { return !uid || *uid == process_uid; }
  bool operator==(const Audience&) const = default;
};

struct Capture {
  std::uint64_t id = 0;         // given once; 0: the place is free
  std::uint64_t opened_at = 0;  // the number of that change
  std::string filter;
  Audience audience;
  std::size_t users = 0;
};

// Gives a filter its canonical form. An error says what is wrong with it, in a line.
Result<std::string> canonical_filter(std::string_view text);

class Captures {
 public:
  // What is kept from users, so that nobody shuts others out.
  static constexpr std::size_t kMostOfAUid = 4;
  static constexpr std::size_t kMostOfAllUids = 24;

  // Gives the place of a capture that has one more user now. Nothing if there is no free one.
  std::optional<std::size_t> open(const std::string& filter, Audience audience);

  // Whether that is because this user has as many as he may.
  bool has_all_of_a_uid(Audience audience) const;

  // It has one user less. True if that was the last one, and the place is free.
  bool close(std::size_t place);

  const Capture& at(std::size_t place) const { return places_[place]; }
  std::optional<std::size_t> place_of(std::uint64_t id) const;
  std::size_t count() const;

  // Of the last change. Grows, and is never 0.
  std::uint64_t number() const { return number_; }

  // The captures that a process of this uid is to know, and the last change among them.
  Places seen_by(std::uint32_t uid) const;
  std::uint64_t changed_for(std::uint32_t uid) const;

  // Those of the places at which the captures are still the ones that a process of this uid knew
  // there when it was told of this number.
  Places still(Places places, std::uint64_t number, std::uint32_t uid) const;

 private:
  bool may_have_one_more(Audience audience) const;
  template <typename Counts>
  std::size_t count_of(Counts counts) const;
  void note_change(Audience audience);

  std::array<Capture, kPlaces> places_;
  std::uint64_t last_id_ = 0;
  std::uint64_t number_ = 1;
  std::uint64_t changed_for_all_ = 0;
  std::map<std::uint32_t, std::uint64_t> changed_for_;  // by uid; few users ever ask
};

}  // namespace pcp::trace::agent
