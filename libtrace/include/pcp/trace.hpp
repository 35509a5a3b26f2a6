// Application tracing for Performance Co-Pilot: the C++ interface, a thin layer over the C one.
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
//   void parse() {
//     PMTRACE_SCOPE("parse");  // the same in one line
//   }
//
// A tag is any string of 1 to 254 bytes. The first invalid tag is reported on standard error;
// invalid tags are not traced. Objects are as cheap to copy as a pointer. Nothing here throws,
// waits, or reports an error of the connection. C++17 and newer, with or without exceptions.
//
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#if __cplusplus < 201703L
#error "<pcp/trace.hpp> needs C++17 or newer (-std=c++17); <pcp/trace.h> does not."
#endif

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <initializer_list>
#include <string_view>
#include <type_traits>
#include <utility>

#include "pcp/trace.h"

namespace pcp::trace {
#ifdef PMTRACE_DISABLE
inline namespace disabled {  // keeps these classes apart from those of files that trace
#endif

namespace detail {

// An optional text: any string, or a null pointer.
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

// A label distinguishes tags of one name: Transaction{"request", {{"route", "/cart"}}}.
struct Label {
  detail::OptionalText name;
  detail::OptionalText value;  // null: the tag is refused, and that is reported
};

namespace detail {

// Copies a text for C, as far as there is room. Gives null, which C refuses, if the text contains a
// NUL.
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
template <typename... Start>
void begin_from(pmtrace_handle, pmtrace_tx*, OptionalText, OptionalText, Start...) noexcept {}
#else
extern "C" void pmtrace_complain_once(const char* text);

inline constexpr std::size_t kLongestTag = 254;

inline bool is_tag(std::string_view name) noexcept {
  return !name.empty() && name.size() <= kLongestTag && name.find('\0') == std::string_view::npos;
}

// Reports the first invalid name, since programs rarely check results.
inline void tell_unless_tag(std::string_view name) noexcept {
  if (is_tag(name)) return;
  const int shown = static_cast<int>(name.size() < 40 ? name.size() : 40);
  char text[128];
  std::snprintf(text, sizeof text,
                "\"%.*s\" is not traced: a tag must have 1 to 254 bytes, without NUL", shown,
                name.data());
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

// One byte more than a tag may have, so that C refuses longer texts.
using TextForC = char[kLongestTag + 2];

// The library reports invalid tags and labels.
inline pmtrace_handle find_tag(std::string_view name,
                               std::initializer_list<Label> labels) noexcept {
  constexpr std::size_t kMostLabels = 16;  // C refuses more
  TextForC texts[2 * kMostLabels + 1];
  pmtrace_label given[kMostLabels]{};
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

// No library makes longer headers; a longer tracestate is dropped. `start_ns`: none, or one.
template <typename... Start>
void begin_from(pmtrace_handle tag, pmtrace_tx* transaction, OptionalText traceparent,
                OptionalText tracestate, Start... start_ns) noexcept {
  char parent_room[256];
  char state_room[4096];
  const char* const parent = copy_text(traceparent, parent_room);
  const char* const state =
      tracestate.view.size() < sizeof state_room ? copy_text(tracestate, state_room) : nullptr;
  if constexpr (sizeof...(start_ns) == 0)
    pmtrace_begin_from(tag, transaction, parent, state);
  else
    pmtrace_begin_from_at(tag, start_ns..., transaction, parent, state);
}
#endif

// Only used for captured transactions. A byte more than a key may have, so that C refuses longer
// keys.
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

inline void want(pmtrace_tx* transaction, OptionalText why) noexcept {
  NoteForC text;
  pmtrace_want(transaction, copy_text(why, text));
}

inline void fail(pmtrace_tx* transaction, pmtrace_handle tag, OptionalText reason) noexcept {
  NoteForC text;
  pmtrace_fail_as(transaction, tag, copy_text(reason, text));
}

#ifdef PMTRACE_DISABLE
class LateLabels {
 public:
  bool empty() const noexcept { return true; }
  void set(pmtrace_handle, OptionalText, OptionalText) noexcept {}
  pmtrace_handle added_to(pmtrace_handle tag) const noexcept { return tag; }
};
#else
// Labels for a transaction's end: names and values, each with its NUL. Looked up only there, since
// each label set that is looked up takes room.
class LateLabels {
 public:
  LateLabels() noexcept {}  // leaves the texts as they are
  LateLabels(const LateLabels& other) noexcept { *this = other; }
  LateLabels& operator=(const LateLabels& other) noexcept {
    used_ = other.used_;
    std::memmove(texts_, other.texts_, used_);
    return *this;
  }
  bool empty() const noexcept { return used_ == 0; }

  // The library reports a name or value that C cannot take.
  void set(pmtrace_handle tag, OptionalText key, OptionalText value) noexcept {
    TextForC texts[2];
    const pmtrace_label label{copy_text(key, texts[0]), copy_text(value, texts[1])};
    if (label.name == nullptr || label.value == nullptr) {
      pmtrace_tag_add_labels(tag, &label, 1);
      return;
    }
    remove(label.name);
    const std::size_t name = std::strlen(label.name) + 1;
    const std::size_t all = name + std::strlen(label.value) + 1;
    // Without room they are too long for a tag, whichever of them are kept.
    if (all > sizeof texts_ - used_) {
      if (used_ > kLongestTag) return;
      used_ = 0;
    }
    std::memcpy(texts_ + used_, label.name, name);
    std::memcpy(texts_ + used_ + name, label.value, all - name);
    used_ += all;
  }

  pmtrace_handle added_to(pmtrace_handle tag) const noexcept {
    constexpr std::size_t kMost = 17;  // one more than C takes
    pmtrace_label labels[kMost];
    std::size_t count = 0;
    for (const char* text = texts_; text != texts_ + used_ && count < kMost; ++count) {
      labels[count].name = text;
      labels[count].value = text += std::strlen(text) + 1;
      text += std::strlen(text) + 1;
    }
    return count == 0 ? tag : pmtrace_tag_add_labels(tag, labels, count);
  }

 private:
  void remove(const char* key) noexcept {
    for (char* text = texts_; text != texts_ + used_;) {
      char* const value = text + std::strlen(text) + 1;
      char* const next = value + std::strlen(value) + 1;
      if (std::strcmp(text, key) == 0) {
        std::memmove(text, next, static_cast<std::size_t>(texts_ + used_ - next));
        used_ -= static_cast<std::size_t>(next - text);
        return;
      }
      text = next;
    }
  }

  std::size_t used_ = 0;
  char texts_[2 * sizeof(TextForC)];  // has room for any one label
};
#endif

// A time of the clock that durations use: of std::chrono::steady_clock, whose header takes longer
// to compile than this one.
struct SteadyTime {
  std::uint64_t ns = 0;

  constexpr SteadyTime() noexcept = default;
  template <typename Time, typename = typename Time::clock>
  constexpr SteadyTime(const Time& time) noexcept {
    using Period = typename Time::period;
    static_assert(Time::clock::is_steady, "a time of std::chrono::steady_clock");
    static_assert(1'000'000'000 % Period::den == 0, "a time in nanoseconds or coarser");
    constexpr auto kTickNs = Period::num * (1'000'000'000 / Period::den);
    if (time.time_since_epoch().count() > 0)
      ns = static_cast<std::uint64_t>(time.time_since_epoch().count() * kTickNs);
  }
};

// Numbers of any width, converted to double when recorded.
template <typename Number>
using IfNumber = std::enable_if_t<std::is_arithmetic_v<Number>>;

// Integers, but no characters.
template <typename Integer>
using IfInteger =
    std::enable_if_t<std::is_integral_v<Integer> && sizeof(Integer) <= sizeof(long long) &&
                     !std::is_same_v<Integer, char> && !std::is_same_v<Integer, wchar_t> &&
                     !std::is_same_v<Integer, char16_t> && !std::is_same_v<Integer, char32_t>>;

// An integer as text: true, false, or its digits, which are written into `room`.
template <typename Integer>
std::string_view text_of(Integer value, char (&room)[24]) noexcept {
  if constexpr (std::is_same_v<Integer, bool>)
    return value ? "true" : "false";
  else
    return {room,
            static_cast<std::size_t>(std::to_chars(room, room + sizeof room, value).ptr - room)};
}

// Base of the four kinds of tags.
class Tagged {
 public:
  explicit Tagged(const char* tag) noexcept : tag_(find_tag(tag)) {}
  explicit Tagged(std::string_view tag) noexcept : tag_(find_tag(tag)) {}
  explicit Tagged(const char* tag, std::initializer_list<Label> labels) noexcept
      : Tagged(std::string_view(tag != nullptr ? tag : ""), labels) {}
  explicit Tagged(std::string_view tag, std::initializer_list<Label> labels) noexcept
      : tag_(find_tag(tag, labels)) {}

  // Sets the unit of the values, and the tag's meaning. Either may be empty or null. The first
  // description stays.
  void describe(OptionalText unit, OptionalText text) const noexcept {
    detail::describe(tag_, unit.view, text.view);
  }

 protected:
  Tagged() noexcept = default;

  pmtrace_handle tag_ = nullptr;
};

}  // namespace detail

class Running;
class Transaction;

namespace detail {
class Scope;
}

// Refers to a transaction as a parent. Cheap to copy, and valid after its end, too.
class Parent {
 public:
  Parent(const Running& running) noexcept;

 private:
  friend class Running;
  friend class Attached;

  pmtrace_tx transaction_;
};

// W3C's headers traceparent and tracestate, for a request to another program. Empty texts without a
// trace.
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

// Headers for an outgoing request of this thread's innermost transaction.
inline TraceHeaders current_headers() noexcept { return TraceHeaders(nullptr); }

// How a transaction begins: tag.begin({.since = accepted}), or in C++17 tag.begin({accepted}).
struct BeginOptions {
  detail::SteadyTime since;  // a std::chrono::steady_clock::time_point; in the future: now
};

// A transaction, open until end(), abort() or destruction, whichever comes first.
class [[nodiscard]] Running {
 public:
  Running() noexcept = default;  // not open
  [[nodiscard]] explicit Running(pmtrace_handle tag) noexcept { pmtrace_begin(tag, &transaction_); }
  [[nodiscard]] Running(pmtrace_handle tag, const BeginOptions& options) noexcept {
    pmtrace_begin_at(tag, options.since.ns, &transaction_);
  }
  // Begins inside of the trace in a request's headers.
  [[nodiscard]] Running(pmtrace_handle tag, detail::OptionalText traceparent,
                        detail::OptionalText tracestate) noexcept {
    detail::begin_from(tag, &transaction_, traceparent, tracestate);
  }
  [[nodiscard]] Running(pmtrace_handle tag, detail::OptionalText traceparent,
                        detail::OptionalText tracestate, const BeginOptions& options) noexcept {
    detail::begin_from(tag, &transaction_, traceparent, tracestate, options.since.ns);
  }
  // Begins inside of `parent`.
  [[nodiscard]] Running(pmtrace_handle tag, const Parent& parent) noexcept {
    pmtrace_begin_under(tag, &transaction_, &parent.transaction_);
  }
  [[nodiscard]] Running(pmtrace_handle tag, const Parent& parent,
                        const BeginOptions& options) noexcept {
    pmtrace_begin_under_at(tag, options.since.ns, &transaction_, &parent.transaction_);
  }
  Running(Running&& other) noexcept
      : transaction_(std::exchange(other.transaction_, {})),
        labels_(other.labels_),
        exceptions_(other.exceptions_) {}
  Running& operator=(Running&& other) noexcept {
    if (this != &other) {
      end();
      transaction_ = std::exchange(other.transaction_, {});
      labels_ = other.labels_;
      exceptions_ = other.exceptions_;
    }
    return *this;
  }
  // Takes an exception that began after the transaction for its own. In a coroutine, which goes on
  // where its caller may be unwinding for another exception, end or abort it before.
  ~Running() {
    if (std::uncaught_exceptions() > exceptions_)
      abort();
    else
      end();
  }

  // Ends the transaction now. Later calls and the destructor do nothing.
  void end() noexcept {
    if (!is_open()) return;
    if (labels_.empty())
      pmtrace_end(&transaction_);
    else
      end_as(tag());
  }

  // Aborts: counts as failed.
  void abort() noexcept {
    if (!is_open()) return;
    if (labels_.empty())
      pmtrace_abort(&transaction_);
    else
      abort_as(tag());
  }

  // Aborts, and notes the reason if captured.
  void fail(detail::OptionalText reason) noexcept {
    if (is_captured())
      fail_as(tag(), reason);
    else
      abort();
  }

  // For what is known only later: the transaction ends or aborts under its tag with this label as
  // well. A later value of a label replaces an earlier one. If a label is invalid, that is
  // reported, and the transaction ends under its tag without any of them; a null one, or one with a
  // NUL, is only left out.
  void label(detail::OptionalText key, detail::OptionalText value) noexcept {
    if (is_open()) labels_.set(tag(), key, value);
  }
  template <typename Integer, typename = detail::IfInteger<Integer>>
  void label(detail::OptionalText key, Integer value) noexcept {
    char room[24];
    if (is_open()) labels_.set(tag(), key, detail::text_of(value, room));
  }

  // Ends or aborts under another tag, also with the labels above. Until then it is in flight under
  // the tag that it began with.
  void end_as(const Transaction& tag) noexcept;
  void abort_as(const Transaction& tag) noexcept;

  // Aborts under another tag, and notes the reason if captured.
  void fail_as(const Transaction& tag, detail::OptionalText reason) noexcept;

  // True if this transaction is captured for a monitor. Notes work only then: check first if a note
  // is expensive to make.
  [[nodiscard]] bool is_captured() const noexcept {
    return pmtrace_is_captured(&transaction_) != 0;
  }

  // Notes an attribute: a key of 1 to 128 bytes, else ignored, and a text or number. A later note
  // with the same key replaces it.
  void note(detail::OptionalText key, detail::OptionalText text) noexcept {
    if (is_captured()) detail::note(&transaction_, key, text);
  }
  template <typename Number, typename = detail::IfNumber<Number>>
  void note(detail::OptionalText key, Number value) noexcept {
    if (is_captured()) detail::note_number(&transaction_, key, static_cast<double>(value));
  }

  // Notes a related trace by its traceparent: for example of each request that this transaction
  // answers together.
  void link(detail::OptionalText traceparent) noexcept {
    if (is_captured()) detail::link(&transaction_, traceparent);
  }

  // Asks monitors with the word `wanted` for the whole request of this transaction, in all
  // programs. The reason, unless null, becomes the note "wanted".
  void want(detail::OptionalText why = nullptr) noexcept {
    if (is_captured()) detail::want(&transaction_, why);
  }

  // Headers for an outgoing request of this transaction.
  [[nodiscard]] TraceHeaders headers() const noexcept { return TraceHeaders(&transaction_); }

  // New transactions of this thread are not inside of this one any more. For threads that work on
  // several requests by turns, with an Attached for each turn.
  void detach() const noexcept { pmtrace_detach(&transaction_); }

 private:
  friend class Parent;

  bool is_open() const noexcept { return transaction_.opaque[0] != 0; }
  // The first word of an open transaction is its tag.
  pmtrace_handle tag() const noexcept {
    return reinterpret_cast<pmtrace_handle>(static_cast<std::uintptr_t>(transaction_.opaque[0]));
  }
  void end_as(pmtrace_handle tag) noexcept {
    if (is_open()) pmtrace_end_as(&transaction_, labels_.added_to(tag));
  }
  void abort_as(pmtrace_handle tag) noexcept {
    if (is_open()) pmtrace_abort_as(&transaction_, labels_.added_to(tag));
  }
  // Requires: captured.
  void fail_as(pmtrace_handle tag, detail::OptionalText reason) noexcept {
    detail::fail(&transaction_, labels_.added_to(tag), reason);
  }

  pmtrace_tx transaction_{};
  detail::LateLabels labels_{};
  int exceptions_ = std::uncaught_exceptions();  // at the begin
};

inline Parent::Parent(const Running& running) noexcept : transaction_(running.transaction_) {}

// While it lives, new transactions of this thread are inside of `parent`.
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
  Transaction() noexcept = default;  // not traced
  using Tagged::Tagged;

  [[nodiscard]] Running begin() const noexcept { return Running(tag_); }

  // The same for what began earlier, such as a request that waited in a queue.
  [[nodiscard]] Running begin(const BeginOptions& options) const noexcept {
    return Running(tag_, options);
  }

  // Begins a transaction for a request, inside of the trace in the request's headers; later
  // transactions of this thread are inside, too. With null or invalid headers, the transaction is
  // in no trace of other programs.
  [[nodiscard]] Running begin_from(detail::OptionalText traceparent,
                                   detail::OptionalText tracestate = {}) const noexcept {
    return Running(tag_, traceparent, tracestate);
  }
  [[nodiscard]] Running begin_from(detail::OptionalText traceparent,
                                   detail::OptionalText tracestate,
                                   const BeginOptions& options) const noexcept {
    return Running(tag_, traceparent, tracestate, options);
  }

  // Begins inside of another transaction, of any thread.
  [[nodiscard]] Running begin_under(const Parent& parent) const noexcept {
    return Running(tag_, parent);
  }
  [[nodiscard]] Running begin_under(const Parent& parent,
                                    const BeginOptions& options) const noexcept {
    return Running(tag_, parent, options);
  }

 private:
  friend class Running;
  friend class detail::Scope;

  pmtrace_handle handle() const noexcept { return tag_; }
};

inline void Running::end_as(const Transaction& tag) noexcept { end_as(tag.handle()); }
inline void Running::abort_as(const Transaction& tag) noexcept { abort_as(tag.handle()); }
inline void Running::fail_as(const Transaction& tag, detail::OptionalText reason) noexcept {
  if (is_captured())
    fail_as(tag.handle(), reason);
  else
    abort_as(tag.handle());
}

// Calls `work` in a transaction and returns its result. An exception aborts the transaction.
template <typename Work>
decltype(auto) measure(Transaction transaction, Work&& work) {
  const Running running = transaction.begin();
  return std::forward<Work>(work)();
}

// The same, with a tag lookup for each call.
template <typename Work>
decltype(auto) measure(const char* tag, Work&& work) {
  return measure(Transaction(tag), std::forward<Work>(work));
}
template <typename Work>
decltype(auto) measure(std::string_view tag, Work&& work) {
  return measure(Transaction(tag), std::forward<Work>(work));
}

// A place that the program passes; counts the passes.
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

// A value that only grows, such as the bytes written so far. A call adds to the value, or records a
// total that the program keeps.
class Counter : public detail::Tagged {
 public:
  using Tagged::Tagged;

  // Adds to the total of all threads and programs; not negative.
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

namespace detail {

// A Running that nobody can label, so it is small: the transaction of PMTRACE_SCOPE.
class Scope {
 public:
  explicit Scope(const Transaction& tag) noexcept { pmtrace_begin(tag.handle(), &transaction_); }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;
  ~Scope() {
    if (transaction_.opaque[0] == 0) return;  // tracing is switched off
    if (std::uncaught_exceptions() > exceptions_)
      pmtrace_abort(&transaction_);
    else
      pmtrace_end(&transaction_);
  }

 private:
  pmtrace_tx transaction_{};
  int exceptions_ = std::uncaught_exceptions();
};

}  // namespace detail

#ifdef PMTRACE_DISABLE
}  // namespace disabled
#endif
}  // namespace pcp::trace

// A transaction from here to the end of the block; an exception aborts it. The tag is a literal. It
// and its labels, as in PMTRACE_SCOPE("parse", {{"format", "json"}}), are looked up when the line
// is first reached, so they cannot name a local variable. Not for constexpr functions, and no
// co_await or co_yield may follow in the block: see ~Running.
#undef PMTRACE_SCOPE  // of <pcp/trace.h>: tells that it is here
#define PMTRACE_SCOPE(...) PMTRACE_NUMBERED_SCOPE_(__COUNTER__, nullptr, "" __VA_ARGS__)

// The same with the function's name as the tag, without its class: PMTRACE_FUNCTION(), with or
// without labels.
#undef PMTRACE_FUNCTION
#define PMTRACE_FUNCTION(...) \
  PMTRACE_NUMBERED_SCOPE_(__COUNTER__, __func__, pmtrace_function_, __VA_ARGS__)

#define PMTRACE_NUMBERED_SCOPE_(number, ...) PMTRACE_SCOPE_(number, __VA_ARGS__)
#ifdef PMTRACE_DISABLE
// Never called, so no code is made of it.
#define PMTRACE_SCOPE_(number, function, ...)                                              \
  [[maybe_unused]] const auto pmtrace_scope_##number = [](const char* pmtrace_function_) { \
    static_cast<void>(pmtrace_function_);                                                  \
    static_cast<void>(::pcp::trace::Transaction{__VA_ARGS__});                             \
  }
#else
#define PMTRACE_SCOPE_(number, function, ...)                                                    \
  const ::pcp::trace::detail::Scope pmtrace_scope_##number = [](const char* pmtrace_function_) { \
    static_cast<void>(pmtrace_function_);                                                        \
    static const ::pcp::trace::Transaction pmtrace_tag_{__VA_ARGS__};                            \
    return ::pcp::trace::detail::Scope(pmtrace_tag_);                                            \
  }(function)
#endif
