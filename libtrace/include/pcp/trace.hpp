// Application tracing for Performance Co-Pilot: the C++ interface, a thin cover over the C one.
//
//   pcp::trace::Transaction request{"request"};  // once, static or a member
//
//   void handle() {
//     auto running = request.begin();  // ends with the scope; an exception aborts it
//     if (!work()) running.abort();
//   }
//
//   auto rows = pcp::trace::measure(request, [&] { return read_rows(); });
//
// Objects are as cheap to copy as a pointer. Nothing here throws, waits, or reports the connection.
// C++17 and newer, with exceptions and without.
//
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <exception>
#include <utility>

#include "pcp/trace.h"

namespace pcp::trace {
#ifdef PMTRACE_DISABLE
inline namespace disabled {  // other classes than those of units that trace
#endif

// A transaction that is open until its end(), abort() or destruction, whichever comes first.
class Running {
 public:
  explicit Running(pmtrace_handle tag) noexcept : exceptions_(std::uncaught_exceptions()) {
    pmtrace_begin(tag, &transaction_);
  }
  Running(Running&& other) noexcept
      : transaction_(std::exchange(other.transaction_, {})), exceptions_(other.exceptions_) {}
  Running& operator=(Running&& other) noexcept {
    if (this != &other) {
      end();
      transaction_ = std::exchange(other.transaction_, {});
      exceptions_ = other.exceptions_;
    }
    return *this;
  }
  ~Running() {
    if (std::uncaught_exceptions() > exceptions_)
      abort();
    else
      end();
  }

  // Ends the transaction now. Later calls and the destructor do nothing.
  void end() noexcept { pmtrace_end(&transaction_); }

  // Gives it up: it counts as aborted, and its time does not count.
  void abort() noexcept { pmtrace_abort(&transaction_); }

 private:
  pmtrace_tx transaction_{};
  int exceptions_;  // those under way when it began
};

// Something that takes time: counted, timed, with rate, average, extrema and percentiles.
class Transaction {
 public:
  explicit Transaction(const char* tag) noexcept : tag_(pmtrace_tag(tag)) {}

  [[nodiscard]] Running begin() const noexcept { return Running(tag_); }

 private:
  pmtrace_handle tag_;
};

// Calls `work` in a transaction and gives what it gives. An exception aborts the transaction.
template <typename Work>
decltype(auto) measure(Transaction transaction, Work&& work) {
  const Running running = transaction.begin();
  return std::forward<Work>(work)();
}

// The same where the tag is looked up each time.
template <typename Work>
decltype(auto) measure(const char* tag, Work&& work) {
  return measure(Transaction(tag), std::forward<Work>(work));
}

// A place that the program passes: counted.
class Point {
 public:
  explicit Point(const char* tag) noexcept : tag_(pmtrace_tag(tag)) {}

  void hit() const noexcept { pmtrace_point(tag_); }
  void operator()() const noexcept { hit(); }

 private:
  pmtrace_handle tag_;
};

// A value that goes up and down, such as the length of a queue.
class Observation {
 public:
  explicit Observation(const char* tag) noexcept : tag_(pmtrace_tag(tag)) {}

  void record(double value) const noexcept { pmtrace_observe(tag_, value); }
  void operator()(double value) const noexcept { record(value); }

 private:
  pmtrace_handle tag_;
};

// A value that only grows, such as bytes written so far.
class Counter {
 public:
  explicit Counter(const char* tag) noexcept : tag_(pmtrace_tag(tag)) {}

  void record(double value) const noexcept { pmtrace_count(tag_, value); }
  void operator()(double value) const noexcept { record(value); }

 private:
  pmtrace_handle tag_;
};

#ifdef PMTRACE_DISABLE
}  // namespace disabled
#endif
}  // namespace pcp::trace
