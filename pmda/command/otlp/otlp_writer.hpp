// SPDX-License-Identifier: LGPL-2.1-or-later
// Parts of OTLP messages that metrics and spans share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>

#include <protozero/pbf_writer.hpp>

#include "command/otlp/otlp_fields.hpp"
#include "wire/events.hpp"

namespace pcp::trace::command::otlp {

// Encoded resources of a request. Several pieces, one behind the other, are a request, too.
struct Piece {
  std::string bytes;
  std::size_t items = 0;       // data points, or spans
  std::uint64_t left_out = 0;  // spans beyond a limit, and events whose span is not there
};

// Text of protobuf must be UTF-8: other bytes are shown as \xNN.
void add_text(protozero::pbf_writer& message, Field field, std::string_view text);

// By key: OTLP has no key twice.
using Attributes = std::map<std::string, std::variant<std::string, std::int64_t, double>>;

void add_attributes(protozero::pbf_writer& message, Field field, const Attributes& attributes);

// The labels of a tag, without `service`, which is of the resource.
Attributes labels_of(std::string_view tag);
inline constexpr std::string_view kServiceLabel = "service";

void add_trace_id(protozero::pbf_writer& message, Field field, const wire::TraceId& id);
void add_span_id(protozero::pbf_writer& message, Field field, std::uint64_t id);

void add_resource(protozero::pbf_writer& resource_items, const Attributes& attributes);

// Writes the scope, which is this program.
void add_scope(protozero::pbf_writer& scope_items);

}  // namespace pcp::trace::command::otlp
