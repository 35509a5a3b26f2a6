// SPDX-License-Identifier: LGPL-2.1-or-later
// The meaning of an OTLP server's answer for the request.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/clock.hpp"
#include "command/otlp/http_post.hpp"

namespace pcp::trace::command::otlp {

enum class Fate {
  Accepted,  // perhaps without some items; never to be sent again
  Retry,     // the server has not taken it, or nobody knows
  Refused,   // it would be refused again
};

struct Verdict {
  Fate fate{};
  std::uint64_t rejected = 0;  // items that the server has not taken, of an accepted request
  std::string why;             // of what was refused or rejected, or a warning; may be empty
};

Verdict verdict_of(const Answer& answer);

// How long to wait before the next attempt, after so many. `random` is from 0 to 1: clients that
// failed at the same time come back at different times.
Duration pause_after(unsigned attempts, std::optional<Duration> retry_after, double random);

}  // namespace pcp::trace::command::otlp
