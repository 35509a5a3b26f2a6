// SPDX-License-Identifier: LGPL-2.1-or-later
// Up to `max` elements of a vector, from index `from` on.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace pcp::trace::agent {

template <typename Element>
std::span<const Element> slice(const std::vector<Element>& all, std::size_t from, std::size_t max) {
  const std::span<const Element> rest = std::span(all).subspan(std::min(from, all.size()));
  return rest.first(std::min(max, rest.size()));
}

}  // namespace pcp::trace::agent
