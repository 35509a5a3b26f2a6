// SPDX-License-Identifier: LGPL-2.1-or-later
// Makes the notes that tests/support/noted.py expects, in each C++ form, once the span is captured.
#include <chrono>
#include <pcp/trace.hpp>
#include <string>
#include <string_view>
#include <thread>

namespace {

// Notes of a transaction that is not captured must not show up in the next one.
pcp::trace::Running begin_captured() {
  const pcp::trace::Transaction request{"request"};
  auto running = request.begin();
  while (!running.is_captured()) {
    running.note("early", "text");
    std::this_thread::sleep_for(std::chrono::milliseconds(10));  // poll: until it is captured
    running = request.begin();
  }
  return running;
}

}  // namespace

int main() {
  auto running = begin_captured();
  running.note("route", "/nowhere");
  running.note("rows", 12.5f);
  running.note(std::string("bytes"), 1ULL << 12);
  running.note(std::string_view("route and more").substr(0, 5), std::string("/käse"));
  running.note(std::string(128, 'k'), "yes");
  running.note("long", std::string(5000, 'v'));
  for (const std::string& none : {std::string(), std::string(129, 'k'), std::string("a\0b", 3)}) {
    running.note(none, "text");
    running.note(none, 1);
    running.link(none);
  }
  running.note(nullptr, "text");
  running.link(nullptr);
  running.link("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
  running.want(std::string("chosen"));
  running.want();
  running.label("status", 504);
  running.fail("declined");
  if (running.is_captured()) return 1;
  running.note("late", "text");
  running.fail("late");
  return pmtrace_flush(100) == 1 ? 0 : 1;
}
