// SPDX-License-Identifier: LGPL-2.1-or-later
// Tags with labels: composed on the caller's stack, then looked up like others.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <span>
#include <string>

#include "api/api.hpp"
#include "platform/diagnostics.hpp"
#include "process/client.hpp"
#include "tags/description.hpp"
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
std::string problem_of(const pmtrace_label* labels, size_t count, bool allows_repeats) {
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
    if (!allows_repeats &&
        std::any_of(labels, labels + i, [&](auto& other) { return text_of(other.name) == key; }))
      return label + " is given twice";
  }
}

// The consequence of bad labels for their tag.
struct Refusal {
  const char* text;
  bool allows_repeats = false;
  std::atomic<bool> is_said{false};  // a message's flag: orders nothing else
};
Refusal not_traced{" is not traced"};
Refusal no_more_labels{" gets no more labels", true};

[[gnu::cold]] pmtrace_handle refuse(std::string_view tag, Refusal& refusal,
                                    const pmtrace_label* labels, size_t count) {
  complain_once(refusal.is_said, [&] {
    return in_quotes(tag) + refusal.text + ": " +
           (is_tag(tag) ? problem_of(labels, count, refusal.allows_repeats)
                        : "a tag must have 1 to 254 bytes");
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

struct Found {
  Composed composed;
  pmtrace_handle tag = nullptr;  // also null if there is no memory
  bool has_labels = false;       // there was room for them
};

Found find_with_labels(std::string_view name, std::span<const DimensionView> labels) {
  std::array<char, kMaxTagLength> text;
  size_t length = 0;
  const Composed composed = compose_dimensions(text, length, name, labels);
  if (composed == Composed::BadLabels) return {composed};
  if (composed == Composed::TooLong) return {composed, find_without_labels(name)};
  const pmtrace_handle tag = find_tag({text.data(), length});
  return {composed, tag, tag != nullptr && tag->length == length};
}

// False if a label or its name or value is NULL, or if there are too many.
bool can_read(const pmtrace_label* labels, size_t count) {
  return count <= kMaxDimensions && (labels != nullptr || count == 0) &&
         std::all_of(labels, labels + count,
                     [](auto& each) { return each.name != nullptr && each.value != nullptr; });
}

// The labels of a tag, and some more: a later one replaces an earlier one.
class MergedLabels {
 public:
  MergedLabels(const Tag& tag, const pmtrace_label* more, size_t count) {
    name_ =
        read_dimensions(name_of(tag), room_, std::span(labels_).first<kMaxDimensions>(), count_);
    for (const pmtrace_label* each = more; each != more + count; ++each) {
      const DimensionView label{text_of(each->name), text_of(each->value)};
      const auto end = labels_.begin() + static_cast<std::ptrdiff_t>(count_);
      const auto same =
          std::find_if(labels_.begin(), end, [&](auto& own) { return own.first == label.first; });
      if (same == end) ++count_;
      *same = label;
    }
  }
  std::string_view name() const { return name_; }
  std::span<const DimensionView> all() const { return std::span(labels_).first(count_); }

 private:
  std::string_view name_;
  std::array<char, kMaxTagLength> room_;
  std::array<DimensionView, 2 * kMaxDimensions> labels_;
  size_t count_;
};

[[gnu::noinline]] Found find_with_more(const Tag& tag, const pmtrace_label* more, size_t count) {
  const MergedLabels labels(tag, more, count);
  const Found found = find_with_labels(labels.name(), labels.all());
  if (found.composed == Composed::BadLabels)
    refuse(name_of(tag), no_more_labels, more, std::max(count, labels.all().size()));
  const TagDescription* const description = description_of(tag);
  if (found.has_labels && description != nullptr)
    describe(*found.tag, description->unit, description->text);
  return found;
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
  const Found found = find_with_labels(bare, {given.data(), count});
  return found.composed == Composed::BadLabels ? refuse(bare, not_traced, labels, count)
                                               : found.tag;
}

// With NULL the caller counts calls without these labels, which reports must know.
PMTRACE_EXPORT pmtrace_handle pmtrace_tag_add_labels(pmtrace_handle tag,
                                                     const pmtrace_label* labels, size_t count) {
  if (tag == nullptr) return nullptr;
  if (!can_read(labels, count)) [[unlikely]] {
    note_folded_labels();
    return refuse(name_of(*tag), no_more_labels, labels, count);
  }
  const LabelCache::Key key(tag, labels, count);
  Recorder* const recorder = key.is_valid() ? known_recorder() : nullptr;
  if (recorder != nullptr)
    if (const Tag* const known = recorder->labels().find(key)) return known;
  const Found found = find_with_more(*tag, labels, count);
  if (found.tag == nullptr) note_folded_labels();
  // A tag that lacks the labels for want of room is looked up, and counted, again.
  if (recorder != nullptr && found.has_labels) recorder->labels().keep(key, found.tag);
  return found.tag;
}

}  // extern "C"
