// SPDX-License-Identifier: LGPL-2.1-or-later
// With PMTRACE_DISABLE every call compiles in all forms that C++ allows, and evaluates no argument.
// Linked without the library.
#define PMTRACE_DISABLE
#include <chrono>
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
  pcp::trace::Transaction{"tag"}.begin().abort();
  auto request = pcp::trace::Transaction{"tag"}.begin_from(std::string("header"), nullptr);
  const pcp::trace::Attached attached{request};
  auto part = pcp::trace::Transaction{"tag"}.begin_under(request);
  part.detach();
  const auto now = std::chrono::steady_clock::now();
  pcp::trace::Transaction{"tag"}.begin({now}).end();
  pcp::trace::Transaction{"tag"}.begin_from("header", nullptr, {now}).end();
  pcp::trace::Transaction{"tag"}.begin_under(request, {now}).end();
  request.note("route", std::string("/cart"));
  request.note("rows", 12.5);
  request.link("header");
  request.fail("declined");
  if (request.is_captured() || request.headers() || pcp::trace::current_headers()) failed = 1;
  const pcp::trace::Counter counter{"tag", {{"route", "/cart"}, {"zone", std::string("eu")}}};
  counter.describe("bytes", std::string("what it counts"));
  counter.describe(nullptr, nullptr);
  counter.add(1);
  return failed | evaluated;
}
