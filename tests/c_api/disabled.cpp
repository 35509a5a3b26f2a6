// SPDX-License-Identifier: LGPL-2.1-or-later
// With PMTRACE_DISABLE calls compile in all forms that C++ allows, and evaluate no argument. Linked
// without the library, as is every_guard.cpp with all other calls.
#define PMTRACE_DISABLE
#include <functional>
#include <map>
#include <pcp/trace.hpp>
#include <string>

int main() {
  int evaluated = 0;
  int failed = 0;
  failed |= pmtraceobs("tag", std::map<std::string, double>{{"x", 1}}.at("x"));
  failed |= pmtracecount("tag", std::pair<int, double>(++evaluated, 1).second);
  failed |= pmtracepoint([&] {
    ++evaluated;
    return "tag";
  }());
  failed |= ::pmtracebegin("tag") | ::pmtrace_point(::pmtrace_tag("tag"));
  const std::function<int(const char*)> call = &pmtracepoint;
  failed |= call("tag");
  auto request = pcp::trace::Transaction{"tag"}.begin_from("header");
  if (request.is_captured() || request.headers() || pcp::trace::current_headers()) failed = 1;
  return failed | evaluated;
}
