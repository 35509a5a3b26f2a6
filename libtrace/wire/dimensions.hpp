// SPDX-License-Identifier: LGPL-2.1-or-later
// A tag with labels is plain text: name{key=value;key=value}, with sorted keys. Bytes not allowed
// in values, and only those, are %XX in upper case: equal labels make equal tags. The library makes
// such tags; the agent shows their labels.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "wire/trace_type.hpp"

namespace pcp::trace {

inline constexpr std::size_t kMaxDimensions = 16;

using DimensionView = std::pair<std::string_view, std::string_view>;  // key, value unescaped

struct Dimension {
  std::string_view key;
  std::string value;  // unescaped
};

struct Dimensions {
  std::string_view name;
  std::vector<Dimension> labels;

  // The value of a label; null: the tag has no such label.
  const std::string* find(std::string_view key) const;
};

// Gives nothing for any other text: that is a tag without labels. The last { begins the labels; the
// name is not empty.
std::optional<Dimensions> parse_dimensions(std::string_view tag);

// Gives the name, the labels and their number without an allocation: values are unescaped into
// `room`, which is at least as long as the tag.
std::string_view read_dimensions(std::string_view tag, std::span<char> room,
                                 std::span<DimensionView, kMaxDimensions> labels,
                                 std::size_t& count);

// The name without labels; the whole tag if it has none. Allocates nothing.
std::string_view bare_name(std::string_view tag);

// [a-z][a-z0-9_]*, and no label of PCP or the agent. Allowed are `service` and `pid`, which the
// agent itself adds to tags.
bool is_dimension_key(std::string_view key);

enum class Composed { Done, BadLabels, TooLong };

// Writes name{...} to the front of `room`, and sets `length`. Labels in any order. BadLabels: more
// than 16, a bad key, or a duplicate. Without labels: just the name. Allocates nothing.
Composed compose_dimensions(std::span<char> room, std::size_t& length, std::string_view name,
                            std::span<const DimensionView> labels);

// Appends to `out`. False, with `out` unchanged, for bad labels or more than `most` bytes.
bool compose_dimensions(std::string& out, std::string_view name,
                        std::span<const DimensionView> labels, std::size_t most = kMaxTagLength);

// Appends the tag with more labels to `out`. Labels that the tag has stay. False, with `out`
// unchanged, in the same cases.
bool add_dimensions(std::string& out, std::string_view tag, std::span<const DimensionView> more,
                    std::size_t most = kMaxTagLength);

}  // namespace pcp::trace
