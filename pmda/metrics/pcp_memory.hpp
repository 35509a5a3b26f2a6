// SPDX-License-Identifier: LGPL-2.1-or-later
// Allocates memory that PCP will free().
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace pcp::trace::agent {

template <typename Value>
Value* allocate_for_pcp(std::size_t count) {
  void* const memory = std::calloc(std::max<std::size_t>(count, 1), sizeof(Value));
  if (!memory) throw std::bad_alloc();
  return static_cast<Value*>(memory);
}

}  // namespace pcp::trace::agent
