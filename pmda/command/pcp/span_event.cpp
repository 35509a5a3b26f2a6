// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/pcp/span_event.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <string_view>
#include <utility>

#include "command/pcp/byte_pieces.hpp"

namespace pcp::trace::command {

namespace {

std::uint64_t from_hex(std::string_view digits) {
  std::uint64_t id = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), id, 16);
  return id;
}

// A parameter of a record. If it is the wanted item, a call reads it into the field, and returns
// true.
struct Parameter {
  unsigned item = 0;
  unsigned type = 0;
  std::string_view bytes;

  std::string_view text() const { return type == PM_TYPE_STRING ? bytes : std::string_view(); }

  bool operator()(agent::SpanItem wanted, std::string& field) const {
    if (item == wanted) field = text();
    return item == wanted;
  }
  bool operator()(agent::SpanItem wanted, std::uint32_t& field) const {
    return number(wanted, PM_TYPE_U32, field);
  }
  bool operator()(agent::SpanItem wanted, std::uint64_t& field) const {
    return number(wanted, PM_TYPE_U64, field);
  }
  bool operator()(agent::SpanItem wanted, double& field) const {
    return number(wanted, PM_TYPE_DOUBLE, field);
  }

 private:
  template <typename Number>
  bool number(agent::SpanItem wanted, unsigned wanted_type, Number& field) const {
    if (item == wanted && type == wanted_type && bytes.size() == sizeof field)
      std::memcpy(&field, bytes.data(), sizeof field);
    return item == wanted;
  }
};

bool take_number_or_text(const Parameter& field, SpanEvent& span) {
  return field(agent::kPidParam, span.pid) || field(agent::kTidParam, span.tid) ||
         field(agent::kFlagsParam, span.flags) || field(agent::kMissingParam, span.left_out) ||
         field(agent::kTimeParam, span.begin_ns) ||
         field(agent::kDurationParam, span.duration_ns) || field(agent::kValueParam, span.value) ||
         field(agent::kTagParam, span.tag) || field(agent::kServiceParam, span.service) ||
         field(agent::kProcessParam, span.process) || field(agent::kHostParam, span.host) ||
         field(agent::kAttributesParam, span.attributes) || field(agent::kLinksParam, span.links) ||
         field(agent::kReasonParam, span.reason);
}

// Takes the parameters whose texts stand for ids, the status or the kind.
void take_meaning(const Parameter& parameter, SpanEvent& span) {
  constexpr std::size_t kDigits = 16;
  const std::string_view text = parameter.text();
  if (parameter.item == agent::kSpanParam) span.span = from_hex(text);
  if (parameter.item == agent::kParentParam) span.parent = from_hex(text);
  if (parameter.item == agent::kTraceParam && text.size() == 2 * kDigits)
    span.trace = {from_hex(text.substr(0, kDigits)), from_hex(text.substr(kDigits))};
  if (parameter.item == agent::kStatusParam) span.aborted = text == "aborted";
  if (parameter.item != agent::kKindParam) return;
  const auto* const found =
      std::find(agent::kSpanKindNames.begin(), agent::kSpanKindNames.end(), text);
  if (found != agent::kSpanKindNames.end())
    span.kind = static_cast<wire::SpanKind>(found - agent::kSpanKindNames.begin());
}

// Our parameters are known by their cluster; the agent's domain may differ.
SpanEvent read_span(BytePieces& pieces, int parameters) {
  SpanEvent span;
  for (int i = 0; i < parameters && !pieces.has_failed(); ++i) {
    const auto head = pieces.take_head<pmEventParameter>();
    const std::size_t length = head.ep_len < PM_VAL_HDR_SIZE ? 0 : head.ep_len - PM_VAL_HDR_SIZE;
    const std::size_t padded = (length + 3) / 4 * 4;
    const Parameter parameter{pmID_item(head.ep_pmid), head.ep_type,
                              pieces.take(padded).substr(0, length)};
    if (pieces.has_failed() || pmID_cluster(head.ep_pmid) != agent::kSpanCluster) continue;
    if (!take_number_or_text(parameter, span)) take_meaning(parameter, span);
  }
  return span;
}

// Decodes \xNN.
std::string plain(std::string_view text) {
  constexpr std::size_t kEscape = 4;
  std::string bytes;
  while (!text.empty()) {
    unsigned byte = 0;
    const bool is_escape = text.size() >= kEscape && text.starts_with("\\x") &&
                           std::from_chars(text.data() + 2, text.data() + kEscape, byte, 16).ptr ==
                               text.data() + kEscape;
    bytes += is_escape ? static_cast<char>(byte) : text.front();
    text.remove_prefix(is_escape ? kEscape : 1);
  }
  return bytes;
}

// An escaped text never parses as a number.
std::optional<double> as_number(std::string_view text) {
  double number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || rest != text.data() + text.size()) return {};
  return number;
}

std::string in_quotes(std::string_view text) {
  std::string shown = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      shown += {'\\', c};
    else if (c == '\n' || c == '\t' || c == '\r')
      shown += {'\\', c == '\n' ? 'n' : c == '\t' ? 't' : 'r'};
    else
      shown += c;
  }
  return shown + '"';
}

std::string quoted_if_need_be(std::string_view text, bool is_number) {
  constexpr std::string_view kMisleading = " =\"\\\n\t\r";
  const bool misleads = text.empty() || text.find_first_of(kMisleading) != text.npos;
  return is_number || misleads ? in_quotes(text) : std::string(text);
}

}  // namespace

std::size_t bytes_of(const SpanEvent& span) {
  return sizeof span + span.tag.size() + span.service.size() + span.process.size() +
         span.host.size() + span.reason.size() + span.attributes.size() + span.links.size();
}

// END records have all data, so START records are skipped.
std::optional<SpanNews> read_events(const pmValueBlock& block) {
  if (block.vtype != PM_TYPE_EVENT) return {};
  BytePieces pieces({reinterpret_cast<const char*>(&block), block.vlen});
  constexpr std::size_t kArrayHead = offsetof(pmEventArray, ea_record);
  constexpr std::size_t kRecordHead = offsetof(pmEventRecord, er_param);
  const auto array = pieces.take_head<pmEventArray>(kArrayHead);
  SpanNews news;
  for (int i = 0; i < array.ea_nrecords && !pieces.has_failed(); ++i) {
    const auto record = pieces.take_head<pmEventRecord>(kRecordHead);
    if ((record.er_flags & PM_EVENT_FLAG_MISSED) != 0) {
      news.missed += static_cast<std::uint64_t>(std::max(record.er_nparams, 0));
      continue;
    }
    SpanEvent span = read_span(pieces, record.er_nparams);
    if (!pieces.has_failed() && (record.er_flags & PM_EVENT_FLAG_START) == 0)
      news.spans.push_back(std::move(span));
  }
  if (pieces.has_failed()) return {};
  return news;
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::size_t length = std::min(text.find(' '), text.size());
    if (length > 0) words.emplace_back(text.substr(0, length));
    text.remove_prefix(std::min(length + 1, text.size()));
  }
  return words;
}

std::vector<ShownAttribute> attributes_of(std::string_view text) {
  std::vector<ShownAttribute> attributes;
  for (const std::string& word : words_of(text)) {
    const std::size_t sign = std::min(word.find('='), word.size());
    const std::string_view value = std::string_view(word).substr(std::min(sign + 1, word.size()));
    attributes.push_back(
        {plain(std::string_view(word).substr(0, sign)), plain(value), as_number(value)});
  }
  return attributes;
}

std::string shown_attributes(std::string_view text) {
  std::string shown;
  for (const std::string& word : words_of(text)) {
    const ShownAttribute attribute = attributes_of(word).front();
    const std::string_view value = std::string_view(word).substr(word.find('=') + 1);
    shown += (shown.empty() ? "" : " ") + quoted_if_need_be(attribute.key, false) + "=";
    // The agent has escaped a text that looks like a number.
    shown += attribute.number
                 ? std::string(value)
                 : quoted_if_need_be(attribute.text, as_number(attribute.text).has_value());
  }
  return shown;
}

}  // namespace pcp::trace::command
