// SPDX-License-Identifier: LGPL-2.1-or-later
// Tags with labels: composed on the caller's stack, then looked up like others.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "api/api.hpp"
#include "platform/diagnostics.hpp"
#include "process/client.hpp"
#include "tags/tag_registry.hpp"
#include "wire/dimensions.hpp"
#include "wire/label_name.hpp"

using namespace pcp::trace;
using namespace pcp::trace::client;

namespace {

// At most one byte more than a tag may have.
std::string_view text_of(const char* text) { return {text, ::strnlen(text, kMaxTagLength + 1)}; }

std::string in_quotes(std::string_view text) { return '"' + std::string(text) + '"'; }

// Why these labels were refused. Requires: one of them is bad.
std::string problem_of(const pmtrace_label* labels, size_t count) {
  if (labels == nullptr) return "the labels are NULL";
  if (count > kMaxDimensions)
    return std::to_string(count) + " labels, at most " + std::to_string(kMaxDimensions);
  for (size_t i = 0;; ++i) {
    if (labels[i].name == nullptr) return "a label has no name";
    const std::string_view key = text_of(labels[i].name);
    const std::string label = "label " + in_quotes(key);
    if (!is_dimension_key(key))
      return label + (is_reserved_label(key) ? " is reserved by PCP" : " is not [a-z][a-z0-9_]*");
    if (labels[i].value == nullptr) return label + " has no value";
    if (std::any_of(labels, labels + i, [&](auto& other) { return text_of(other.name) == key; }))
      return label + " is given twice";
  }
}

// The consequence of bad labels for their tag.
struct Refusal {
  const char* text;
  std::atomic<bool> is_said{false};  // a message's flag: orders nothing else
};
Refusal not_traced{" is not traced"};
Refusal no_more_labels{" gets no more labels"};

[[gnu::cold]] pmtrace_handle refuse(std::string_view tag, Refusal& refusal,
                                    const pmtrace_label* labels, size_t count) {
  complain_once(refusal.is_said, [&] {
    return in_quotes(tag) + refusal.text + ": " +
           (is_tag(tag) ? problem_of(labels, count) : "a tag must have 1 to 254 bytes");
  });
  return nullptr;
}

[[gnu::cold]] pmtrace_handle find_without_labels(std::string_view name) {
  note_folded_labels();
  if (LabelCounts* counts = Client::label_counts())
    counts->cut.fetch_add(1, std::memory_order_relaxed);
  static std::atomic<bool> is_said{false};
  complain_once(is_said, [&] {
    return in_quotes(name) + " with its labels is longer than 254 bytes: recorded without them";
  });
  return find_tag(name);
}

// Nothing for bad labels.
std::optional<pmtrace_handle> find_with_labels(std::string_view name,
                                               std::span<const DimensionView> labels) {
  std::array<char, kMaxTagLength> text;
  size_t length = 0;
  switch (compose_dimensions(text, length, name, labels)) {
    case Composed::Done:
      return find_tag({text.data(), length});
    case Composed::TooLong:
      return find_without_labels(name);
    default:
      return {};
  }
}

// False if a label or its name or value is NULL, or if there are too many.
bool can_read(const pmtrace_label* labels, size_t count) {
  return count <= kMaxDimensions && (labels != nullptr || count == 0) &&
         std::all_of(labels, labels + count,
                     [](auto& each) { return each.name != nullptr && each.value != nullptr; });
}

std::optional<pmtrace_handle> find_merged(const Tag& tag, const pmtrace_label* more,
                                          size_t& count) {
  const Dimensions own = parse_dimensions(name_of(tag)).value_or(Dimensions{name_of(tag), {}});
  std::vector<DimensionView> all;
  for (const Dimension& each : own.labels) all.emplace_back(each.key, each.value);
  for (const pmtrace_label* each = more; each != more + count; ++each) {
    const DimensionView label{text_of(each->name), text_of(each->value)};
    const auto same = std::ranges::find(all, label.first, &DimensionView::first);
    if (same == all.end())
      all.push_back(label);
    else
      *same = label;
  }
  count = all.size();
  return find_with_labels(own.name, all);
}

// The tag's own labels and these; a later one replaces an earlier one.
[[gnu::noinline]] pmtrace_handle find_with_more(const Tag& tag, const pmtrace_label* more,
                                                size_t count) try {
  if (can_read(more, count))
    if (const auto found = find_merged(tag, more, count)) return *found;
  return refuse(name_of(tag), no_more_labels, more, count);
} catch (const std::bad_alloc&) {
  return nullptr;
}

}  // namespace

namespace pcp::trace::client {

void note_other_name(const Tag& tag) {
  if (name_of(tag) == kOverflowName) return;
  note_folded_labels();
  if (LabelCounts* counts = Client::label_counts())
    counts->over.fetch_add(1, std::memory_order_relaxed);
  static std::atomic<bool> is_said{false};
  if (label_set_limit() != 0)
    complain_once(is_said, [&] {
      return in_quotes(name_of(tag)) + " has more than " + std::to_string(label_set_limit()) +
             " label sets: calls of further ones are counted without labels. Do not put unbounded "
             "values, such as request ids, into a label. PCP_TRACE_MAX_LABEL_SETS sets the limit";
    });
}

}  // namespace pcp::trace::client

extern "C" {

PMTRACE_EXPORT pmtrace_handle pmtrace_tag_with(const char* name, const pmtrace_label* labels,
                                               size_t count) {
  const std::string_view bare = name != nullptr ? text_of(name) : "";
  if (!is_tag(bare) || !can_read(labels, count)) return refuse(bare, not_traced, labels, count);
  std::array<DimensionView, kMaxDimensions> given;
  for (size_t i = 0; i < count; ++i) given[i] = {text_of(labels[i].name), text_of(labels[i].value)};
  if (const auto found = find_with_labels(bare, {given.data(), count})) return *found;
  return refuse(bare, not_traced, labels, count);
}

PMTRACE_EXPORT pmtrace_handle pmtrace_tag_add_labels(pmtrace_handle tag,
                                                     const pmtrace_label* labels, size_t count) {
  if (tag == nullptr) return nullptr;
  const LabelCache::Key key(tag, labels, labels != nullptr ? count : 0);
  Recorder* const recorder = key.is_valid() ? known_recorder() : nullptr;
  if (recorder == nullptr) return find_with_more(*tag, labels, count);
  if (const Tag* const known = recorder->labels().find(key)) return known;
  const pmtrace_handle found = find_with_more(*tag, labels, count);
  // A tag that lacks the labels for want of room is looked up, and counted, again.
  if (found != nullptr && bare_name(name_of(*found)).size() < found->length)
    recorder->labels().keep(key, found);
  return found;
}

}  // extern "C"
