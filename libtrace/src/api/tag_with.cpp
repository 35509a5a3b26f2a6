// SPDX-License-Identifier: LGPL-2.1-or-later
// Tags with labels: composed on the caller's stack, then looked up as any other.
#include <array>
#include <atomic>
#include <cstring>
#include <exception>
#include <string>

#include "api/api.hpp"
#include "api/find_tag.hpp"
#include "delivery/diagnostics.hpp"
#include "process/client.hpp"
#include "record/label_set_limit.hpp"
#include "wire/dimensions.hpp"

using namespace pcp::trace;
using namespace pcp::trace::client;

namespace {

// No more of a text than tells that it is too long for a tag.
std::string_view text_of(const char* text) { return {text, ::strnlen(text, kMaxTagLength + 1)}; }

// Once in a process and its children.
void complain_once(std::atomic<bool>& is_said, std::string_view name, const char* problem) {
  if (is_said.exchange(true, std::memory_order_relaxed)) return;
  try {
    complain('"' + std::string(name) + "\" " + problem);
  } catch (const std::exception&) {
  }
}

[[gnu::cold]] pmtrace_handle refuse_labels(const char* name) {
  static std::atomic<bool> is_said{false};
  complain_once(is_said, name != nullptr ? text_of(name) : "",
                "with labels is not traced: a tag has 1 to 254 bytes, and at most 16 labels, with "
                "a value and a name of a-z, 0-9 and '_', no two the same and none of PCP's own");
  return nullptr;
}

}  // namespace

namespace pcp::trace::client {

void note_other_name(const Tag& tag) {
  if (name_of(tag) == kOverflowName) return;
  tag.stands_for_others.store(true, std::memory_order_relaxed);
  if (LabelCounts* counts = Client::label_counts())
    counts->over.fetch_add(1, std::memory_order_relaxed);
  static std::atomic<bool> is_said{false};
  if (label_set_limit() != 0)
    complain_once(is_said, name_of(tag),
                  "has too many sets of labels: the rest is recorded without. Labels are not for "
                  "what never ends, such as numbers of requests (PCP_TRACE_MAX_LABEL_SETS)");
}

}  // namespace pcp::trace::client

extern "C" PMTRACE_EXPORT pmtrace_handle pmtrace_tag_with(const char* name,
                                                          const pmtrace_label* labels,
                                                          size_t count) {
  std::array<DimensionView, kMaxDimensions> given;
  if (name == nullptr || count > given.size() || (labels == nullptr && count != 0))
    return refuse_labels(name);
  for (size_t i = 0; i < count; ++i) {
    if (labels[i].name == nullptr || labels[i].value == nullptr) return refuse_labels(name);
    given[i] = {text_of(labels[i].name), text_of(labels[i].value)};
  }
  const std::string_view bare = text_of(name);
  std::array<char, kMaxTagLength> text;
  size_t length = 0;
  const Composed composed = compose_dimensions(text, length, bare, {given.data(), count});
  if (composed == Composed::BadLabels || !is_tag(bare)) return refuse_labels(name);
  if (composed == Composed::Done) return find_tag({text.data(), length});
  if (LabelCounts* counts = Client::label_counts())
    counts->cut.fetch_add(1, std::memory_order_relaxed);
  return find_tag(bare);
}
