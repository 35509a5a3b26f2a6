// SPDX-License-Identifier: LGPL-2.1-or-later
// Scopes of one line in C++, wherever they may be; and fail_as. The tag says how a transaction
// ends.
#include <pcp/trace.hpp>
#include <string>

#include "scope_ways.h"

namespace {

const char* const kUsers = "eu";

template <typename Value>
struct Parser {
  Parser() { PMTRACE_SCOPE("constructor"); }
  Parser(const Parser&) = delete;
  Parser& operator=(const Parser&) = delete;
  ~Parser() { PMTRACE_SCOPE("destructor"); }

  auto parse(Value value) noexcept {
    PMTRACE_FUNCTION({{"format", "json"}});
    const auto in_lambda = [&](auto tag) {
      PMTRACE_SCOPE("lambda", {{"zone", kUsers}, {"kind", "generic"}});
      return value + tag;
    };
    return in_lambda(1);
  }
};

#ifdef __cpp_exceptions
void raise() {
  try {
    PMTRACE_SCOPE("aborted");
    throw std::string("thrown");
  } catch (const std::string&) {
    PMTRACE_SCOPE("caught");
  }
}
#else
void raise() {}
#endif

}  // namespace

int main() {
  nested(1);
  Parser<int>().parse(1);
  Parser<double>().parse(2.5);
  for (int how = 0; how < 5; ++how) leave(how);
#ifndef PMTRACE_DISABLE
  pcp::trace::Transaction{"first"}.begin().fail_as(pcp::trace::Transaction{"aborted"}, "reason");
#endif
  raise();
}
