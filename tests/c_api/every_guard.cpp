// SPDX-License-Identifier: LGPL-2.1-or-later
// Every way to write a transaction in C++, with exceptions or without.
#include <chrono>
#include <cstdint>
#include <memory>
#include <pcp/trace.hpp>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace trace = pcp::trace;

namespace {

const trace::Transaction scope{"scope"};
const trace::Transaction measured{"measured"};

void end_or_abort() {
  { auto running = scope.begin(); }  // 1 end
  {
    auto running = scope.begin();
    running.abort();  // 1 abort
    running.end();    // nothing more
  }
  {
    auto running = scope.begin();
    running.end();  // 1 end
    running.abort();
  }
}

// A moved-from transaction does nothing; the target of an assignment ends first.
void move() {
  auto first = scope.begin();
  auto second = std::move(first);
  auto third = scope.begin();
  third = std::move(second);  // ends the third, goes on with the first: 1 end, and 1 at the end
}

void measure() {
  int calls = 0;
  const auto nothing = [] {};
  trace::measure(measured, [&] { ++calls; });
  int& same = trace::measure(measured, [&]() -> int& { return calls; });
  auto unique = trace::measure("measured", [] { return std::make_unique<int>(7); });
  ++same;
  static_assert(std::is_void_v<decltype(trace::measure(measured, nothing))>);
  if (calls != 2 || *unique != 7) pmtracepoint("wrong");
}

#ifdef __cpp_exceptions
// Traces while another exception unwinds: its own transaction ends, it does not abort.
struct TracesInItsDestructor {
  ~TracesInItsDestructor() { auto running = scope.begin(); }  // 1 end
};

void throw_out() {
  try {
    trace::measure(measured, [] { throw 1; });  // 1 abort
  } catch (int) {
  }
  try {
    const TracesInItsDestructor object;
    auto running = scope.begin();  // 1 abort
    throw 1;
  } catch (int) {
  }
}
#else
void throw_out() {}
#endif

// Any string is a tag. Invalid tags count nothing; the library warns once.
void name() {
  const std::string text = "named";
  trace::Point{text}.hit();
  trace::Observation{text}.record(1LL << 40);
  trace::Counter{std::string_view("named, not to its end").substr(0, 5)}(1ULL << 50);
  trace::measure(text, [] {});
  trace::measure(std::string(254, 'n'), [] {});
  trace::Point{"labelled", {{"route", "/cart"}, {"b", text}}}.hit();
  trace::Point{text, {{"a", std::string_view("1 and more").substr(0, 1)}}}.hit();
  trace::Observation{std::string_view("labelled"), {}}.record(5);
  for (const std::string& none : {std::string("a\0b", 3), std::string(255, 'n'), std::string()})
    trace::Point{none}.hit();
  trace::Point{""}.hit();
  trace::Point{static_cast<const char*>(nullptr)}.hit();
}

// With tracing compiled out, there are no headers to pass on.
bool is_passed_on(const trace::TraceHeaders& headers, std::string_view parent,
                  std::string_view state) {
#ifdef PMTRACE_DISABLE
  parent = state = "";
#endif
  return headers.traceparent() == parent && headers.tracestate() == state &&
         static_cast<bool>(headers) == !parent.empty();
}

void pass_on() {
  const trace::Transaction request{"request"};
  const std::string header = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  const auto check = [](bool is_so, const char* what) {
    if (!is_so) pmtracepoint(what);
  };
  auto outer = request.begin_from(header, std::string_view("a=1,b").substr(0, 3));
  check(is_passed_on(outer.headers(), header, "a=1"), "not from the request");
  check(is_passed_on(trace::current_headers(), header, "a=1"), "not on the thread");
  outer.detach();
  check(is_passed_on(trace::current_headers(), "", ""), "not detached");
  {
    const trace::Attached turn{outer};
    check(is_passed_on(trace::current_headers(), header, "a=1"), "not attached");
  }
  check(is_passed_on(trace::current_headers(), "", ""), "still attached");
  const trace::Parent parent = outer;
  auto moved = std::move(outer);
  check(is_passed_on(moved.headers(), header, "a=1"), "not moved");
  moved.end();
  auto part = request.begin_under(parent);
  check(is_passed_on(part.headers(), header, "a=1"), "not under what has ended");
  auto whole = request.begin_under(part);
  check(is_passed_on(whole.headers(), header, "a=1"), "not under");
  auto long_state = request.begin_from(header.c_str(), "a=" + std::string(5000, 'v'));
  check(is_passed_on(long_state.headers(), header, ""), "a long state");
  const auto now = std::chrono::steady_clock::now();
  auto waited = request.begin({now});
  check(is_passed_on(waited.headers(), header, ""), "not inside of what is open");
  auto waited_from = request.begin_from(header, "b=2", {now});
  check(is_passed_on(waited_from.headers(), header, "b=2"), "not from the request that waited");
  auto waited_under = request.begin_under(part, {now});
  check(is_passed_on(waited_under.headers(), header, "a=1"), "not under, having waited");
  auto none = request.begin_from(nullptr);
  check(is_passed_on(none.headers(), "", ""), "from nothing");
  auto cut = request.begin_from(std::string(header).append(1, '\0'));
  check(is_passed_on(cut.headers(), "", ""), "with a NUL");
}

// No capture: notes and links do nothing; end and fail still count.
void note() {
  const trace::Transaction noted{"noted"};
  auto running = noted.begin();
  if (running.is_captured()) pmtracepoint("captured");
  running.note("route", std::string("/cart"));
  running.note(std::string_view("rows"), 12.5);
  running.note("no text", nullptr);
  running.link(nullptr);
  running.want("why");
  auto failed = noted.begin();
  failed.fail("declined");      // 1 abort
  failed.fail(std::string());   // nothing more
  noted.begin().fail(nullptr);  // 1 abort
}

// A member, which does not run yet.
struct Exchange {
  trace::Running running;
  trace::Transaction other;
};

void label() {
  const trace::Transaction served{"served", {{"route", "/cart"}}};
  Exchange exchange;
  exchange.running.label("status", 200);  // not open: nothing
  exchange.running.end();
  exchange.running = served.begin();
  exchange.running.label("status", 200);
  exchange.running.label(std::string("status"), std::uint16_t{504});
  auto moved = std::move(exchange.running);
  moved.label("cached", true);
  moved.label("cached", nullptr);     // reported, and changes nothing
  moved.end();                        // 1 end with both
  exchange.running = served.begin();  // without them again
  exchange.running.label("status", std::string_view("404"));
  exchange.running.fail("not found");  // 1 abort
  exchange.running = served.begin();
  exchange.running.end_as(scope);  // 1 end of another tag
  exchange.running = served.begin();
  exchange.running.label("status", "0");
  exchange.running.abort_as(scope);      // 1 abort of another tag, with the label
  exchange.other.begin().label("a", 1);  // not traced
  exchange.running = served.begin();
  exchange.running.end_as(exchange.other);  // 1 end of its own

  // Too long for a tag, alone or together: 3 ends of the bare name. A later value may be short.
  const std::string longest(300, 'v');
  for (const char* second : {"a", "b", "c"}) {
    exchange.running = served.begin();
    exchange.running.label("a", longest);
    exchange.running.label(second, longest);
    exchange.running.label("b", longest);
    exchange.running.label("status", 200);
    exchange.running.end();
  }
  exchange.running = served.begin();
  for (const std::string& reason : {longest, std::string("short")})
    exchange.running.label("reason", reason);
  exchange.running.end();

  // Too many, and a bad one: 2 ends of its own.
  exchange.running = served.begin();
  for (char key = 'a'; key <= 'z'; ++key) exchange.running.label(std::string(1, key), key - 'a');
  exchange.running.end();
  exchange.running = served.begin();
  exchange.running.label("status", 200);
  exchange.running.label("bad key", 1);
  exchange.running.end();
}

}  // namespace

static_assert(sizeof(trace::Counter) == sizeof(pmtrace_handle) &&
              std::is_trivially_copyable_v<trace::Counter>);

int main() {
  end_or_abort();
  move();
  measure();
  throw_out();
  name();
  pass_on();
  note();
  label();
  trace::Point("everything")();
  trace::Observation("everything")(2);
  trace::Counter("everything")(3);
  const trace::Counter added{"added", {{"by", "call"}}};
  added.describe("bytes", std::string("Sum of all additions, ") + std::string(300, '.'));
  added.add(1);
  added.add(2.5);
  added.add(1ULL << 40);
  added.describe("", std::string_view());
  added.describe(nullptr, static_cast<const char*>(nullptr));
  trace::Counter("added", {{"by", static_cast<const char*>(nullptr)}}).add(1);
  return pmtrace_flush(100) == 1 ? 0 : 1;
}
