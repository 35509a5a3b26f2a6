// SPDX-License-Identifier: LGPL-2.1-or-later
// Tags with labels: composed on the caller's stack, then looked up like others.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <string>

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

[[gnu::cold]] pmtrace_handle refuse(const char* name, const pmtrace_label* labels, size_t count) {
  static std::atomic<bool> is_said{false};
  complain_once(is_said, [&] {
    const std::string_view bare = name != nullptr ? text_of(name) : "";
    return in_quotes(bare) + " is not traced: " +
           (is_tag(bare) ? problem_of(labels, count) : "a tag must have 1 to 254 bytes");
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

extern "C" PMTRACE_EXPORT pmtrace_handle pmtrace_tag_with(const char* name,
                                                          const pmtrace_label* labels,
                                                          size_t count) {
  std::array<DimensionView, kMaxDimensions> given;
  if (name == nullptr || count > given.size() || (labels == nullptr && count != 0))
    return refuse(name, labels, count);
  for (size_t i = 0; i < count; ++i) {
    if (labels[i].name == nullptr || labels[i].value == nullptr) return refuse(name, labels, count);
    given[i] = {text_of(labels[i].name), text_of(labels[i].value)};
  }
  const std::string_view bare = text_of(name);
  std::array<char, kMaxTagLength> text;
  size_t length = 0;
  const Composed composed = compose_dimensions(text, length, bare, {given.data(), count});
  if (composed == Composed::BadLabels || !is_tag(bare)) return refuse(name, labels, count);
  if (composed == Composed::Done) return find_tag({text.data(), length});
  return find_without_labels(bare);
}
