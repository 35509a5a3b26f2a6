// SPDX-License-Identifier: LGPL-2.1-or-later
#include "record/ended_inside.hpp"

#include <algorithm>
#include <array>

#include "record/span_notes.hpp"

namespace pcp::trace::client {

bool EndedInside::put(const CapturedSpan& span, std::uint32_t round) {
  const Holding holding(*this);
  const std::uint32_t size = size_.load(std::memory_order_relaxed);
  if (!holding || this->round() != round || size == kMost) return false;
  auto* const spans = spans_.find_or_make();
  if (spans == nullptr) return false;
  (*spans)[size] = span;
  size_.store(size + 1, std::memory_order_relaxed);
  return true;
}

// Inner transactions usually end before outer ones. So a backward pass mostly knows the parent's id
// first; otherwise another pass follows.
bool EndedInside::leave_out_inside(std::uint64_t top, Places fast, std::uint32_t round) {
  if (empty() || fast == 0) return this->round() == round;
  const Holding holding(*this);
  if (!holding || this->round() != round) return false;
  CapturedSpan* const first = spans_.find()->data();
  const std::uint32_t size = size_.load(std::memory_order_relaxed);
  std::array<std::uint64_t, kMost + 1> ids;
  auto end = ids.begin();
  *end++ = top;
  std::array<bool, kMost> is_inside{};
  for (bool any = true; std::exchange(any, false);) {
    for (std::uint32_t i = size; i-- > 0;) {
      CapturedSpan& each = first[i];
      const bool is_event = wire::is_event(each.kind);
      const std::uint64_t around = is_event ? each.context.outgoing() : each.context.parent;
      if (is_inside[i] || std::find(ids.begin(), end, around) == end) continue;
      is_inside[i] = any = true;
      if (!is_event) *end++ = each.context.own;
      each.context.set_places(each.context.places() & ~fast);
      if (each.context.places() == 0) delete std::exchange(each.notes, nullptr);
    }
  }
  CapturedSpan* const left = std::remove_if(
      first, first + size, [](const CapturedSpan& each) { return each.context.places() == 0; });
  size_.store(static_cast<std::uint32_t>(left - first), std::memory_order_relaxed);
  return true;
}

}  // namespace pcp::trace::client
