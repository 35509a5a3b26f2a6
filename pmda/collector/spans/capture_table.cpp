// SPDX-License-Identifier: LGPL-2.1-or-later
#include "collector/spans/capture_table.hpp"

#include <algorithm>

namespace pcp::trace::agent {

Result<std::string> canonical_filter(std::string_view text, std::uint32_t limit) {
  const Result<wire::CaptureFilter> filter = wire::parse_capture_filter(text, limit);
  if (!filter) return filter.error();
  return wire::text_of(*filter);
}

std::optional<std::size_t> CaptureTable::open(const std::string& filter, Audience audience) {
  std::optional<std::size_t> free;
  for (std::size_t bit = 0; bit < wire::kMaxCaptures; ++bit) {
    ActiveCapture& capture = captures_[bit];
    if (capture.id == 0) {
      if (!free) free = bit;
    } else if (capture.filter == filter && capture.audience == audience) {
      ++capture.users;
      return bit;
    }
  }
  if (!free || !may_have_one_more(audience)) return {};
  note_change(audience);
  ActiveCapture& opened = captures_[*free];
  opened = {.id = ++last_id_,
            .opened_at = number_,
            .filter = filter,
            .asked = {last_id_, static_cast<std::uint32_t>(*free), filter},
            .limit = wire::kMaxLimit,
            .audience = audience,
            .users = 1};
  if (const Result<wire::CaptureFilter> parsed = wire::parse_capture_filter(filter)) {
    opened.limit = parsed->limit;
    opened.slower_ns = parsed->slower_ns;
    if (parsed->reasons != 0) wire::set_filter(opened.asked, *parsed);
  }
  return free;
}

bool CaptureTable::may_have_one_more(Audience audience) const {
  return !audience.uid || (!has_all_of_a_uid(audience) && count_of([](const Audience& each) {
                                                            return each.uid.has_value();
                                                          }) < kMostOfAllUids);
}

bool CaptureTable::has_all_of_a_uid(Audience audience) const {
  return audience.uid &&
         count_of([&](const Audience& each) { return each == audience; }) >= kMostOfAUid;
}

template <typename Counts>
std::size_t CaptureTable::count_of(Counts counts) const {
  return static_cast<std::size_t>(std::count_if(
      captures_.begin(), captures_.end(),
      [&](const ActiveCapture& each) { return each.id != 0 && counts(each.audience); }));
}

bool CaptureTable::close(std::size_t bit) {
  ActiveCapture& capture = captures_[bit];
  if (--capture.users > 0) return false;
  note_change(capture.audience);
  capture = {};
  return true;
}

void CaptureTable::note_change(Audience audience) {
  ++number_;
  (audience.uid ? changed_for_[*audience.uid] : changed_for_all_) = number_;
}

std::optional<std::size_t> CaptureTable::bit_of(std::uint64_t id) const {
  for (std::size_t bit = 0; bit < wire::kMaxCaptures; ++bit)
    if (id != 0 && captures_[bit].id == id) return bit;
  return {};
}

std::size_t CaptureTable::count() const {
  return count_of([](const Audience&) { return true; });
}

CaptureBits CaptureTable::seen_by(std::uint32_t uid) const {
  return valid_bits(~CaptureBits{0}, number_, uid);
}

std::uint64_t CaptureTable::changed_for(std::uint32_t uid) const {
  const auto own = changed_for_.find(uid);
  return std::max(changed_for_all_, own == changed_for_.end() ? 0 : own->second);
}

// A capture keeps its bit, so a capture opened up to change `number` has had its bit since then.
CaptureBits CaptureTable::valid_bits(CaptureBits bits, std::uint64_t number,
                                     std::uint32_t uid) const {
  CaptureBits left = 0;
  for (std::size_t bit = 0; bit < wire::kMaxCaptures; ++bit) {
    const ActiveCapture& capture = captures_[bit];
    if (capture.id != 0 && capture.opened_at <= number && capture.audience.includes(uid))
      left |= CaptureBits{1} << bit;
  }
  return left & bits;
}

}  // namespace pcp::trace::agent
