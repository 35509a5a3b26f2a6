// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>

#include "base/result.hpp"

namespace pcp::trace::command {

enum class Packing { Fast, Small };

// Bytes in gzip's form. Requires: fewer than 4 GiB.
Result<std::string> gzipped(const std::string& bytes, Packing packing);

}  // namespace pcp::trace::command
