// SPDX-License-Identifier: LGPL-2.1-or-later
// The error in a Result, or an empty text: a test that compares it with "" shows the error.
#pragma once

#include <string>

#include "base/result.hpp"

namespace pcp::trace {

template <typename Value>
std::string error_of(const Result<Value>& result) {
  return result ? "" : result.error().message;
}

}  // namespace pcp::trace
