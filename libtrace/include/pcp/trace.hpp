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
// A tag is a string of any sort, of 1 to 254 bytes; what is none is told once on standard error,
// and not traced. Objects are as cheap to copy as a pointer. Nothing here throws, waits, or reports
// the connection. C++17 and newer, with exceptions and without.
//
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#if __cplusplus < 201703L
#error "<pcp/trace.hpp> needs C++17 or newer (-std=c++17); <pcp/trace.h> does not."
#endif

#include <cstdio>
#include <exception>
#include <initializer_list>
#include <string_view>
#include <type_traits>
#include <utility>

#include "pcp/trace.h"

namespace pcp::trace {
#ifdef PMTRACE_DISABLE
inline namespace disabled {  // other classes than those of units that trace
#endif

namespace detail {

// A text that may be left out: any string, or a null pointer.
struct OptionalText {
  std::string_view view;
  bool is_null = false;

  constexpr OptionalText() noexcept = default;
  constexpr OptionalText(const char* text) noexcept
      : view(text != nullptr ? text : ""), is_null(text == nullptr) {}
  template <typename Text,
            typename = std::enable_if_t<std::is_class_v<Text> &&
                                        std::is_convertible_v<const Text&, std::string_view>>>
  constexpr OptionalText(const Text& text) noexcept : view(text) {}
};

}  // namespace detail

// What sets one tag of a name apart from another: Transaction{"request", {{"route", "/cart"}}}.
struct Label {
  detail::OptionalText name;
  detail::OptionalText value;  // a null pointer is none: such a tag is refused, and that is told
};

namespace detail {

// Copies a text for C, as far as there is room. Gives null, which C refuses, if there is a NUL in
// it.
template <std::size_t Size>
const char* copy_text(OptionalText given, char (&to)[Size]) noexcept {
  const std::string_view from = given.view;
  if (given.is_null || from.find('\0') != std::string_view::npos) return nullptr;
  to[from.copy(to, Size - 1)] = '\0';
  return to;
}

#ifdef PMTRACE_DISABLE
template <typename Name>
constexpr pmtrace_handle find_tag(const Name&) noexcept {
  return nullptr;
}
template <typename Name>
constexpr pmtrace_handle find_tag(const Name&, std::initializer_list<Label>) noexcept {
  return nullptr;
}
inline void describe(pmtrace_handle, std::string_view, std::string_view) noexcept {}
inline void begin_from(pmtrace_handle, pmtrace_tx*, OptionalText, OptionalText) noexcept {}
#else
extern "C" void pmtrace_complain_once(const char* text);

inline constexpr std::size_t kLongestTag = 254;

inline bool is_tag(std::string_view name) noexcept {
  return !name.empty() && name.size() <= kLongestTag && name.find('\0') == std::string_view::npos;
}

// Nobody is made to look at what a call returns, so the first name that is no tag is told.
inline void tell_unless_tag(std::string_view name) noexcept {
  if (is_tag(name)) return;
  const int shown = static_cast<int>(name.size() < 40 ? name.size() : 40);
  char text[128];
  std::snprintf(text, sizeof text, "\"%.*s\" is not traced: a tag has 1 to 254 bytes, without NUL",
                shown, name.data());
  pmtrace_complain_once(text);
}

inline pmtrace_handle find_tag(const char* name) noexcept {
  const pmtrace_handle tag = pmtrace_tag(name);
  if (tag == nullptr) tell_unless_tag(name != nullptr ? name : "");
  return tag;
}

inline pmtrace_handle find_tag(std::string_view name) noexcept {
  char text[kLongestTag + 1]{};  // C wants a NUL after it
  if (is_tag(name)) name.copy(text, kLongestTag);
  if (*text == '\0') tell_unless_tag(name);
  return pmtrace_tag(text);
}

// One byte more than a tag may have.
using TextForC = char[kLongestTag + 2];

// What is no tag, or no label, the library tells.
inline pmtrace_handle find_tag(std::string_view name,
                               std::initializer_list<Label> labels) noexcept {
  constexpr std::size_t kMostLabels = 16;  // C refuses more
  TextForC texts[2 * kMostLabels + 1];
  pmtrace_label given[kMostLabels];
  std::size_t text = 0;
  for (std::size_t i = 0; i < labels.size() && i < kMostLabels; ++i) {
    given[i].name = copy_text(labels.begin()[i].name, texts[text++]);
    given[i].value = copy_text(labels.begin()[i].value, texts[text++]);
  }
  return pmtrace_tag_with(copy_text(name, texts[text]), given, labels.size());
}

inline void describe(pmtrace_handle tag, std::string_view unit, std::string_view text) noexcept {
  TextForC texts[2];
  pmtrace_describe(tag, unit.empty() ? nullptr : copy_text(unit, texts[0]),
                   text.empty() ? nullptr : copy_text(text, texts[1]));
}

// Headers as long as no library makes them are none.
inline void begin_from(pmtrace_handle tag, pmtrace_tx* transaction, OptionalText traceparent,
                       OptionalText tracestate) noexcept {
  char parent[256];
  char state[4096];
  pmtrace_begin_from(
      tag, transaction, copy_text(traceparent, parent),
      tracestate.view.size() < sizeof state ? copy_text(tracestate, state) : nullptr);
}
#endif

// Of a transaction that is captured only. A byte more than a key may have, so that one that is too
// long is refused, not cut.
using KeyForC = char[128 + 2];
using NoteForC = char[4096 + 1];

inline void note(pmtrace_tx* transaction, OptionalText key, OptionalText text) noexcept {
  KeyForC name;
  NoteForC value;
  pmtrace_note(transaction, copy_text(key, name), copy_text(text, value));
}

inline void note_number(pmtrace_tx* transaction, OptionalText key, double number) noexcept {
  KeyForC name;
  pmtrace_note_number(transaction, copy_text(key, name), number);
}

inline void link(pmtrace_tx* transaction, OptionalText traceparent) noexcept {
  char header[256];
  pmtrace_link(transaction, copy_text(traceparent, header));
}

inline void fail(pmtrace_tx* transaction, OptionalText reason) noexcept {
  NoteForC text;
  pmtrace_fail(transaction, copy_text(reason, text));
}

// What becomes a double where a value is recorded, however many bits it has.
template <typename Number>
using IfNumber = std::enable_if_t<std::is_arithmetic_v<Number>>;

// What the four kinds have in common.
class Tagged {
 public:
  explicit Tagged(const char* tag) noexcept : tag_(find_tag(tag)) {}
  explicit Tagged(std::string_view tag) noexcept : tag_(find_tag(tag)) {}
  explicit Tagged(const char* tag, std::initializer_list<Label> labels) noexcept
      : Tagged(std::string_view(tag != nullptr ? tag : ""), labels) {}
  explicit Tagged(std::string_view tag, std::initializer_list<Label> labels) noexcept
      : tag_(find_tag(tag, labels)) {}

  // Says what the values are measured in, and what the tag stands for. Either may be empty or null;
  // what was said first stays.
  void describe(OptionalText unit, OptionalText text) const noexcept {
    detail::describe(tag_, unit.view, text.view);
  }

 protected:
  pmtrace_handle tag_;
};

}  // namespace detail

class Running;

// A transaction as what others are a part of. Small, to be copied, and good after its end, too.
class Parent {
 public:
  Parent(const Running& running) noexcept;

 private:
  friend class Running;
  friend class Attached;

  pmtrace_tx transaction_;
};

// What goes with a request from program to program: W3C's headers traceparent and tracestate. Empty
// texts if there is no trace.
class TraceHeaders {
 public:
  TraceHeaders() noexcept = default;

  const char* traceparent() const noexcept { return traceparent_; }
  const char* tracestate() const noexcept { return tracestate_; }
  explicit operator bool() const noexcept { return *traceparent_ != '\0'; }

 private:
  friend class Running;
  friend TraceHeaders current_headers() noexcept;

  explicit TraceHeaders(const pmtrace_tx* transaction) noexcept {
    pmtrace_context(transaction, traceparent_, sizeof traceparent_);
    pmtrace_context_state(transaction, tracestate_, sizeof tracestate_);
  }

  char traceparent_[PMTRACE_CONTEXT_SIZE]{};
  char tracestate_[PMTRACE_CONTEXT_STATE_SIZE]{};
};

// For a request that goes out from within what this thread does.
inline TraceHeaders current_headers() noexcept { return TraceHeaders(nullptr); }

// A transaction that is open until its end(), abort() or destruction, whichever comes first.
class [[nodiscard]] Running {
 public:
  [[nodiscard]] explicit Running(pmtrace_handle tag) noexcept
      : exceptions_(std::uncaught_exceptions()) {
    pmtrace_begin(tag, &transaction_);
  }
  // With the headers of the request that asked for it.
  [[nodiscard]] Running(pmtrace_handle tag, detail::OptionalText traceparent,
                        detail::OptionalText tracestate) noexcept
      : exceptions_(std::uncaught_exceptions()) {
    detail::begin_from(tag, &transaction_, traceparent, tracestate);
  }
  // As a part of another one.
  [[nodiscard]] Running(pmtrace_handle tag, const Parent& parent) noexcept
      : exceptions_(std::uncaught_exceptions()) {
    pmtrace_begin_under(tag, &transaction_, &parent.transaction_);
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
  void end() noexcept {
    if (is_open()) pmtrace_end(&transaction_);
  }

  // Gives it up: it counts as aborted, and its time does not count.
  void abort() noexcept {
    if (is_open()) pmtrace_abort(&transaction_);
  }

  // The same, and says why to whoever sees it captured.
  void fail(detail::OptionalText reason) noexcept {
    if (is_captured())
      detail::fail(&transaction_, reason);
    else
      abort();
  }

  // Whether somebody has asked to see this one by itself (a capture). Only then the following do
  // something: ask first if what they are to note takes time to be had.
  [[nodiscard]] bool is_captured() const noexcept {
    return pmtrace_is_captured(&transaction_) != 0;
  }

  // Notes what it is about: a key of 1 to 128 bytes, else it is none, and a text or a number. What
  // is noted of the same key later replaces it.
  void note(detail::OptionalText key, detail::OptionalText text) noexcept {
    if (is_captured()) detail::note(&transaction_, key, text);
  }
  template <typename Number, typename = detail::IfNumber<Number>>
  void note(detail::OptionalText key, Number value) noexcept {
    if (is_captured()) detail::note_number(&transaction_, key, static_cast<double>(value));
  }

  // Notes another trace that it has to do with, by its header: such as that of each request which
  // it answers at once.
  void link(detail::OptionalText traceparent) noexcept {
    if (is_captured()) detail::link(&transaction_, traceparent);
  }

  // For a request that goes out from within it.
  [[nodiscard]] TraceHeaders headers() const noexcept { return TraceHeaders(&transaction_); }

  // What begins on this thread from now on is not inside of it: for whatever works on several
  // requests by turns, and has an Attached for each turn.
  void detach() const noexcept { pmtrace_detach(&transaction_); }

 private:
  friend class Parent;

  bool is_open() const noexcept { return transaction_.opaque[0] != 0; }

  pmtrace_tx transaction_{};
  int exceptions_;  // those under way when it began
};

inline Parent::Parent(const Running& running) noexcept : transaction_(running.transaction_) {}

// While it lives, what begins on this thread is inside of that transaction.
class [[nodiscard]] Attached {
 public:
  [[nodiscard]] explicit Attached(const Parent& parent) noexcept : parent_(parent) {
    pmtrace_attach(&parent_.transaction_);
  }
  Attached(const Attached&) = delete;
  Attached& operator=(const Attached&) = delete;
  ~Attached() { pmtrace_detach(&parent_.transaction_); }

 private:
  Parent parent_;
};

// Something that takes time: counted, timed, with rate, average, extrema and percentiles.
class Transaction : public detail::Tagged {
 public:
  using Tagged::Tagged;

  [[nodiscard]] Running begin() const noexcept { return Running(tag_); }

  // Begins what a request has asked for, with the headers that came with it: a part of their trace,
  // as is all that begins on this thread meanwhile. Null, or not valid: of none that others know.
  [[nodiscard]] Running begin_from(detail::OptionalText traceparent,
                                   detail::OptionalText tracestate = {}) const noexcept {
    return Running(tag_, traceparent, tracestate);
  }

  // Begins a part of another transaction, of whatever thread.
  [[nodiscard]] Running begin_under(const Parent& parent) const noexcept {
    return Running(tag_, parent);
  }
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
template <typename Work>
decltype(auto) measure(std::string_view tag, Work&& work) {
  return measure(Transaction(tag), std::forward<Work>(work));
}

// A place that the program passes: counted.
class Point : public detail::Tagged {
 public:
  using Tagged::Tagged;

  void hit() const noexcept { pmtrace_point(tag_); }
  void operator()() const noexcept { hit(); }
};

// A value that goes up and down, such as the length of a queue.
class Observation : public detail::Tagged {
 public:
  using Tagged::Tagged;

  void record(double value) const noexcept { pmtrace_observe(tag_, value); }
  template <typename Number, typename = detail::IfNumber<Number>>
  void record(Number value) const noexcept {
    record(static_cast<double>(value));
  }
  void operator()(double value) const noexcept { record(value); }
  template <typename Number, typename = detail::IfNumber<Number>>
  void operator()(Number value) const noexcept {
    record(value);
  }
};

// What only grows: either by what each call adds, or to a value that the program keeps, such as the
// bytes written so far.
class Counter : public detail::Tagged {
 public:
  using Tagged::Tagged;

  // Adds to what all threads and programs have added; not negative.
  void add(double increment) const noexcept { pmtrace_add(tag_, increment); }
  template <typename Number, typename = detail::IfNumber<Number>>
  void add(Number increment) const noexcept {
    add(static_cast<double>(increment));
  }

  void record(double value) const noexcept { pmtrace_count(tag_, value); }
  template <typename Number, typename = detail::IfNumber<Number>>
  void record(Number value) const noexcept {
    record(static_cast<double>(value));
  }
  void operator()(double value) const noexcept { record(value); }
  template <typename Number, typename = detail::IfNumber<Number>>
  void operator()(Number value) const noexcept {
    record(value);
  }
};

#ifdef PMTRACE_DISABLE
}  // namespace disabled
#endif
}  // namespace pcp::trace
