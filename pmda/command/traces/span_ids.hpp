// SPDX-License-Identifier: LGPL-2.1-or-later
// Ids of traces and spans as text.
#pragma once

#include <cstdint>
#include <string>

#include "collector/spans/span_text.hpp"
#include "wire/events.hpp"

namespace pcp::trace::command {

inline std::string text_of(std::uint64_t id) { return agent::hex_of(id).data(); }
inline std::string text_of(const wire::TraceId& id) {
  return agent::hex_of(id.high, id.low).data();
}

}  // namespace pcp::trace::command
