// SPDX-License-Identifier: LGPL-2.1-or-later
// Scopes of one line in C++, wherever they may be; and fail_as. The tag says how a transaction
// ends.
#include <pcp/trace.hpp>
#include <string>

#define TWO_ON_ONE_LINE   \
  PMTRACE_SCOPE("outer"); \
  PMTRACE_SCOPE("inner")

namespace {

const char* const kUsers = "eu";

inline int nested(int depth) {
  PMTRACE_FUNCTION();
  TWO_ON_ONE_LINE;
  return depth == 0 ? 0 : nested(depth - 1);
}

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

void leave(int how) {
  for (int pass = 0; pass < 2; ++pass) {
    PMTRACE_SCOPE("pass");
    if (how == pass) continue;
    if (how == 2) break;
    if (how == 3) goto out;
    if (how == 4) return;
  }
out:
  switch (how) {
    default: {
      PMTRACE_SCOPE("case");
    }
  }
}

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
