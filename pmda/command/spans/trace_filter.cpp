// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/spans/trace_filter.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "command/pcp/span_event.hpp"
#include "command/show/shown.hpp"
#include "wire/dimensions.hpp"

namespace pcp::trace::command {

namespace {

constexpr std::string_view kTraceWord = "trace=";
constexpr std::string_view kNoteWord = "note.";
constexpr std::string_view kLabelWord = "label.";
constexpr std::size_t kMostNotes = 32;

Result<TraceFilter::Note> parse_note(const std::string& word) {
  const bool is_label = word.starts_with(kLabelWord);
  const std::size_t prefix = (is_label ? kLabelWord : kNoteWord).size();
  const std::size_t at = word.find('=');
  const std::string shown = printed_name(word) + ": ";
  if (at == std::string::npos || at <= prefix)
    return Error{shown + "expected a " +
                 (is_label ? "label and a pattern, as in label.status=5*"
                           : "note and a pattern, as in note.item=23*")};
  std::string_view pattern = std::string_view(word).substr(at + 1);
  if (pattern.starts_with('"')) {
    if (pattern.size() < 2 || !pattern.ends_with('"'))
      return Error{shown + "quotes must enclose the whole value"};
    pattern = pattern.substr(1, pattern.size() - 2);
  }
  Result<Glob> value = Glob::parse(pattern);
  if (!value) return Error{shown + value.error().message};
  return TraceFilter::Note{is_label, word.substr(prefix, at - prefix), *std::move(value)};
}

// Several words may come as one, as in 'failed tag=request'. Quotes keep their blanks.
std::vector<std::string> split(const std::vector<std::string>& words) {
  std::vector<std::string> all;
  for (const std::string& text : words) {
    bool is_quoted = false;
    bool is_new = true;
    for (std::size_t i = 0; i < text.size(); ++i) {
      const bool is_escape = text[i] == '\\' && i + 1 < text.size();
      is_quoted ^= text[i] == '"';
      if (!is_quoted && (text[i] == ' ' || text[i] == '\t' || text[i] == '\n')) {
        is_new = true;
        continue;
      }
      if (std::exchange(is_new, false)) all.emplace_back();
      all.back() += text[i];
      if (is_escape) all.back() += text[++i];
    }
  }
  return all;
}

// A number as the shortest text that is this number.
std::string text_of(const ShownAttribute& attribute) {
  if (!attribute.number) return attribute.text;
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.begin(), text.end(), *attribute.number).ptr;
  return {text.begin(), end};
}

bool is_selected(const SpanEvent& span, const wire::CaptureFilter& filter) {
  const std::string& process = span.process.empty() ? span.service : span.process;
  return wire::matches_tag(filter, span.tag) && span.duration_ns >= filter.slower_ns &&
         wire::matches_process(filter, span.pid, span.service, process);
}

}  // namespace

Result<void> TraceFilter::take_from(std::vector<std::string>& words) {
  std::vector<std::string> others;
  for (std::string& word : split(words)) {
    if (const std::uint32_t reason = wire::reason_of(word); reason != 0) {
      if ((reasons & reason) != 0) return Error{word + ": this word is given twice"};
      reasons |= reason;
    } else if (word.starts_with(kTraceWord)) {
      trace_id = word.substr(kTraceWord.size());
      if (trace_id.empty() || trace_id.size() > 32 ||
          trace_id.find_first_not_of("0123456789abcdef") != std::string::npos)
        return Error{printed_name(word) +
                     ": expected the first digits of an id, as in trace=a2c4f6"};
    } else if (word.starts_with(kNoteWord) || word.starts_with(kLabelWord)) {
      Result<Note> note = parse_note(word);
      if (!note) return note.error();
      if (notes.size() == kMostNotes) return Error{"more than 32 notes and labels"};
      notes.push_back(*std::move(note));
    } else {
      others.push_back(std::move(word));
    }
  }
  words = std::move(others);
  return {};
}

bool is_slow(const SpanEvent& span, const wire::CaptureFilter& filter) {
  return filter.slower_ns > 0 && !span.is_event() && is_selected(span, filter);
}

std::uint64_t slow_span(const SpanTrace& trace, const wire::CaptureFilter& filter) {
  const SpanEvent* first = nullptr;
  for (const SpanEvent& span : trace.spans)
    if (is_slow(span, filter) && (first == nullptr || span.begin_ns < first->begin_ns))
      first = &span;
  return first != nullptr ? first->span : 0;
}

TraceFilter::Marks TraceFilter::all_marks() const {
  return ((Marks{1} << notes.size()) - 1) * kFirstNote | reasons;
}

TraceFilter::Marks TraceFilter::marks_of(const SpanEvent& span) const {
  Marks marks = span.reasons();
  if (notes.empty()) return marks;
  const auto mark = [&](bool is_label, std::string_view key, std::string_view value) {
    for (std::size_t i = 0; i < notes.size(); ++i)
      if (notes[i].is_label == is_label && notes[i].key == key && notes[i].value.matches(value))
        marks |= kFirstNote << i;
  };
  for (const ShownAttribute& attribute : attributes_of(span.attributes))
    mark(false, attribute.key, text_of(attribute));
  if (const auto tag = parse_dimensions(span.tag))
    for (const auto& [key, value] : tag->labels) mark(true, key, value);
  return marks;
}

bool TraceFilter::may_be_of(const SpanEvent& span) const {
  return !captured || (is_selected(span, *captured) &&
                       wire::reaches_threshold(span.trace.low, wire::share_threshold(*captured)));
}

bool TraceFilter::matches(const SpanTrace& trace) const {
  if (!text_of(trace.id).starts_with(trace_id)) return false;
  if (!captured && all_marks() == 0) return true;
  struct Open {
    std::size_t depth;
    bool may_be;
    Marks marks;
  };
  std::vector<Open> open;  // the present node and those that it is in
  const auto close = [&] {
    const Open last = open.back();
    open.pop_back();
    if (!open.empty()) open.back().marks |= last.marks;
    return last.may_be && (last.marks & all_marks()) == all_marks();
  };
  for (const Node& node : nodes_of(trace)) {
    while (!open.empty() && open.back().depth >= node.depth)
      if (close()) return true;
    open.push_back({node.depth, may_be_of(*node.span), marks_of(*node.span)});
  }
  while (!open.empty())
    if (close()) return true;
  return false;
}

}  // namespace pcp::trace::command
