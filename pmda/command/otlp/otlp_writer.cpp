// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/otlp/otlp_writer.hpp"

#include <array>

#include "base/escape.hpp"
#include "wire/dimensions.hpp"

namespace pcp::trace::command::otlp {

namespace {

struct AddValue {
  protozero::pbf_writer& message;

  void operator()(const std::string& text) { add_text(message, kText, text); }
  void operator()(std::int64_t number) { message.add_int64(kInteger, number); }
  void operator()(double number) { message.add_double(kDouble, number); }
};

// Notes may have several lines.
std::size_t stays_in_text(std::string_view text) {
  return text.front() == '\n' || text.front() == '\t' ? 1 : stays_in_name(text);
}

std::array<char, 8> big_endian(std::uint64_t id) {
  std::array<char, 8> bytes{};
  for (std::size_t i = bytes.size(); i-- > 0; id >>= 8) bytes[i] = static_cast<char>(id);
  return bytes;
}

}  // namespace

void add_text(protozero::pbf_writer& message, Field field, std::string_view text) {
  message.add_string(field, escaped(text, stays_in_text));
}

void add_attributes(protozero::pbf_writer& message, Field field, const Attributes& attributes) {
  for (const auto& [key, value] : attributes) {
    protozero::pbf_writer pair(message, field);
    add_text(pair, kKey, key);
    protozero::pbf_writer its(pair, kValue);
    std::visit(AddValue{its}, value);
  }
}

Attributes labels_of(std::string_view tag) {
  Attributes labels;
  if (const auto parsed = parse_dimensions(tag))
    for (const auto& [key, value] : parsed->labels)
      if (key != kServiceLabel) labels.emplace(key, value);
  return labels;
}

void add_trace_id(protozero::pbf_writer& message, Field field, const wire::TraceId& id) {
  const auto high = big_endian(id.high);
  const auto low = big_endian(id.low);
  message.add_bytes(field, std::string(high.begin(), high.end()).append(low.begin(), low.end()));
}

void add_span_id(protozero::pbf_writer& message, Field field, std::uint64_t id) {
  const auto bytes = big_endian(id);
  message.add_bytes(field, bytes.data(), bytes.size());
}

void add_resource(protozero::pbf_writer& resource_items, const Attributes& attributes) {
  protozero::pbf_writer resource(resource_items, kResourceOf);
  add_attributes(resource, kResourceAttributes, attributes);
}

void add_scope(protozero::pbf_writer& scope_items) {
  protozero::pbf_writer scope(scope_items, kScope);
  scope.add_string(kScopeName, "pcp-trace");
  scope.add_string(kScopeVersion, PCP_TRACE_VERSION);
}

}  // namespace pcp::trace::command::otlp
