// SPDX-License-Identifier: LGPL-2.1-or-later
// A tag with labels is text like any other: name{key=value;key=value}, the keys in ascending order.
// What a value may not have as it is, and nothing else, is %XX in it, in upper case: so the same
// labels are always the same tag. Shared by the library, which makes such tags, and the agent,
// which shows their labels.
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

struct Dimension {
  std::string_view key;
  std::string value;  // unescaped
};

struct Dimensions {
  std::string_view name;
  std::vector<Dimension> labels;
};

// Gives nothing for a tag without labels: all that is not quite of this form. The last { begins the
// labels, and some name comes before it.
std::optional<Dimensions> parse_dimensions(std::string_view tag);

// The name before the labels; the whole tag if it has none. Allocates nothing.
std::string_view bare_name(std::string_view tag);

// [a-z][a-z0-9_]*, and none of PCP's and the agent's labels but `service` and `pid`, which the
// agent itself puts into tags.
bool is_dimension_key(std::string_view key);

using DimensionView = std::pair<std::string_view, std::string_view>;  // key, value unescaped

enum class Composed { Done, BadLabels, TooLong };

// Writes name{...} to the front of `room`, and its length to `length`. The labels come in any
// order; bad are more than 16, a bad key, and one that comes twice. Without labels it is the name.
// Allocates nothing.
Composed compose_dimensions(std::span<char> room, std::size_t& length, std::string_view name,
                            std::span<const DimensionView> labels);

// Appends it to `out`; false, and `out` unchanged, if labels are bad or it would be longer than
// `most`.
bool compose_dimensions(std::string& out, std::string_view name,
                        std::span<const DimensionView> labels, std::size_t most = kMaxTagLength);

}  // namespace pcp::trace
