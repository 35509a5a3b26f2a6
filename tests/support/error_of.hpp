// SPDX-License-Identifier: LGPL-2.1-or-later
// What a Result says is wrong, or nothing: so that a test that fails shows it.
#pragma once

#include <string>

#include "wire/result.hpp"

namespace pcp::trace {

template <typename Value>
std::string error_of(const Result<Value>& result) {
  return result ? "" : result.error().message;
}

}  // namespace pcp::trace
