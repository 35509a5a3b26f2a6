// SPDX-License-Identifier: LGPL-2.1-or-later
#include "wire/capture_filter.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <utility>

#include "wire/dimensions.hpp"

namespace pcp::trace::wire {

namespace {

bool is_blank(char c) { return c == ' ' || c == '\t'; }

bool is_control(char c) {
  return (static_cast<unsigned char>(c) < ' ' && c != '\t') || c == '\x7f';
}

// A word of a filter: key=value,value, or only a key. Values are without quotes, but still with
// backslashes.
struct FilterWord {
  std::string_view text;  // as in the filter
  std::string_view key;
  std::vector<std::string_view> values;
};

// An error about this word, with advice. The filter is already known to have no control characters
// but tabs.
Error complaint(std::string_view word, std::string_view advice) {
  constexpr std::size_t kMostShown = 60;
  std::string message(word.substr(0, kMostShown));
  std::replace(message.begin(), message.end(), '\t', ' ');
  if (word.size() > kMostShown) message += "..";
  return {message.append(": ").append(advice)};
}

// Length of the text before the first byte, not escaped, that `ends` accepts.
template <typename Ends>
std::size_t length_until(std::string_view text, Ends ends) {
  std::size_t at = 0;
  while (at < text.size() && !ends(text[at])) at += text[at] == '\\' ? 2 : 1;
  return std::min(at, text.size());
}

// Takes a value and its quotes off the front. The error is advice for complaint().
Result<std::string_view> take_value(std::string_view& rest) {
  const bool is_quoted = !rest.empty() && rest.front() == '"';
  if (is_quoted) rest.remove_prefix(1);
  const std::size_t length = length_until(
      rest, [&](char c) { return c == '"' || (!is_quoted && (is_blank(c) || c == ',')); });
  const std::string_view value = rest.substr(0, length);
  rest.remove_prefix(length);
  const bool has_quote = !rest.empty() && rest.front() == '"';
  if (is_quoted && !has_quote)
    return Error{"closing quote is missing; write a literal quote as \\\""};
  if (is_quoted) rest.remove_prefix(1);
  const bool is_end = rest.empty() || is_blank(rest.front()) || rest.front() == ',';
  if (!is_end) return Error{"quotes must enclose the whole value; write a literal quote as \\\""};
  if (value.empty()) return Error{"a value is missing"};
  return value;
}

// Takes a word off the front. Requires: the text is not empty and does not begin with a blank.
Result<FilterWord> take_word(std::string_view& rest) {
  const std::string_view whole = rest;
  const auto taken = [&] { return whole.substr(0, whole.size() - rest.size()); };
  FilterWord word;
  word.key = rest.substr(0, rest.find_first_of("= \t"));
  rest.remove_prefix(word.key.size());
  const auto goes_on = [&](char with) { return !rest.empty() && rest.front() == with; };
  for (char with = '='; goes_on(with); with = ',') {
    rest.remove_prefix(1);
    const auto value = take_value(rest);
    if (!value) return complaint(taken(), value.error().message);
    word.values.push_back(*value);
  }
  word.text = taken();
  return word;
}

// Parses a decimal number with at most so many decimals. Gives it times 10^decimals.
std::optional<std::uint64_t> decimal(std::string_view text, std::size_t decimals) {
  const std::size_t point = text.find('.');
  std::string digits(text.substr(0, point));
  if (digits.empty()) return std::nullopt;
  if (point != text.npos) {
    const std::string_view fraction = text.substr(point + 1);
    if (fraction.empty() || fraction.size() > decimals) return std::nullopt;
    digits += fraction;
    decimals -= fraction.size();
  }
  digits.append(decimals, '0');
  std::uint64_t number = 0;
  const char* const end = digits.data() + digits.size();
  const auto [parsed_to, error] = std::from_chars(digits.data(), end, number);
  if (error != std::errc() || parsed_to != end) return std::nullopt;
  return number;
}

// Parses an integer from 1 to `most`.
std::optional<std::uint32_t> whole(std::string_view text, std::uint32_t most) {
  const auto number = decimal(text, 0);
  if (!number || *number == 0 || *number > most) return std::nullopt;
  return static_cast<std::uint32_t>(*number);
}

// Removes this unit from the end; false if it is not there.
bool take_unit(std::string_view& text, std::string_view unit) {
  if (!text.ends_with(unit)) return false;
  text.remove_suffix(unit.size());
  return true;
}

struct TimeUnit {
  std::string_view name;
  std::size_t decimals;  // down to a nanosecond
  std::uint64_t ns;
};
// "s" is tried last, since the others end with it, too.
constexpr std::array kTimeUnits{TimeUnit{"ns", 0, 1}, TimeUnit{"us", 3, 1'000},
                                TimeUnit{"ms", 6, 1'000'000}, TimeUnit{"s", 9, 1'000'000'000}};

constexpr std::size_t kShareDecimals = 8;  // of a percentage
constexpr std::uint64_t kOnePercent = kWholeShare / 100;

// Each of these takes the values of one word; the error is advice for complaint().
using Taken = Result<void>;

Taken take_tags(CaptureFilter& filter, const std::vector<std::string_view>& values) {
  if (values.size() > kMaxFilterGlobs) return Error{"more than 32 patterns"};
  for (const std::string_view value : values) {
    auto glob = Glob::parse(value);
    if (!glob) return glob.error();
    filter.tags.push_back(*std::move(glob));
  }
  if (std::any_of(filter.tags.begin(), filter.tags.end(),
                  [](const Glob& glob) { return glob.matches_everything(); }))
    filter.tags.clear();
  std::vector<Glob>& tags = filter.tags;
  std::sort(tags.begin(), tags.end(),
            [](const Glob& a, const Glob& b) { return a.text() < b.text(); });
  tags.erase(std::unique(tags.begin(), tags.end()), tags.end());
  return {};
}

Taken take_name(std::optional<Glob>& wanted, const std::vector<std::string_view>& values) {
  if (values.size() > 1) return Error{"takes one pattern; write a literal comma as \\,"};
  auto glob = Glob::parse(values.front());
  if (!glob) return glob.error();
  if (!glob->matches_everything()) wanted = *std::move(glob);
  return {};
}

Taken take_slower(CaptureFilter& filter, const std::vector<std::string_view>& values) {
  std::string_view text = values.front();
  const auto unit = std::find_if(kTimeUnits.begin(), kTimeUnits.end(),
                                 [&](const TimeUnit& each) { return take_unit(text, each.name); });
  constexpr std::string_view kAdvice =
      "expected a time and its unit, ns, us, ms or s, such as slower=10ms";
  if (values.size() > 1 || unit == kTimeUnits.end()) return Error{std::string(kAdvice)};
  const auto time = decimal(text, unit->decimals);
  if (!time) return Error{std::string(kAdvice)};
  if (*time == 0 || *time > kMaxSlowerNs) return Error{"expected a time from 1ns to 86400s"};
  filter.slower_ns = *time;
  return {};
}

Taken take_share(CaptureFilter& filter, const std::vector<std::string_view>& values) {
  std::string_view text = values.front();
  const bool is_percentage = take_unit(text, "%");
  const auto share = decimal(text, kShareDecimals);
  if (values.size() > 1 || !is_percentage || !share || *share == 0 || *share > kWholeShare)
    return Error{"expected a percentage of at most 100% with at most 8 decimals, such as share=1%"};
  filter.share = *share;
  return {};
}

Taken take_limit(CaptureFilter& filter, const std::vector<std::string_view>& values) {
  std::string_view text = values.front();
  const bool is_rate = take_unit(text, "/s");
  const auto limit = whole(text, kMaxLimit);
  if (values.size() > 1 || !is_rate || !limit)
    return Error{"expected from 1 to 1000000 spans a second, such as limit=1000/s"};
  filter.limit = *limit;
  return {};
}

Taken take_pid(CaptureFilter& filter, const std::vector<std::string_view>& values) {
  const auto pid = whole(values.front(), std::numeric_limits<std::uint32_t>::max());
  if (values.size() > 1 || !pid)
    return Error{"expected the number of one process, such as pid=4711"};
  filter.pid = *pid;
  return {};
}

Taken take_kinds(CaptureFilter& filter, const std::vector<std::string_view>& values) {
  for (const std::string_view kind : values) {
    if (kind == "point")
      filter.points = true;
    else if (kind == "observe")
      filter.observations = true;
    else if (kind == "counter")
      filter.counters = true;
    else if (kind != "transact")  // transactions always match
      return Error{"expected any of point, observe and counter, such as kind=point,observe"};
  }
  return {};
}

template <std::uint32_t reason>
Taken take_reason(CaptureFilter& filter, const std::vector<std::string_view>&) {
  filter.reasons |= reason;
  return {};
}

struct WordType {
  std::string_view key;
  Taken (*take)(CaptureFilter&, const std::vector<std::string_view>&);
  std::uint32_t reason = 0;  // of a word without a value
};

constexpr std::array kWordTypes{
    WordType{"tag", take_tags},
    WordType{"slower", take_slower},
    WordType{"failed", take_reason<kIfFailed>, kIfFailed},
    WordType{"wanted", take_reason<kIfWanted>, kIfWanted},
    WordType{"died", take_reason<kIfDied>, kIfDied},
    WordType{"share", take_share},
    WordType{"limit", take_limit},
    WordType{"pid", take_pid},
    WordType{"service",
             [](CaptureFilter& filter, const std::vector<std::string_view>& values) {
               return take_name(filter.service, values);
             }},
    WordType{"process",
             [](CaptureFilter& filter, const std::vector<std::string_view>& values) {
               return take_name(filter.process, values);
             }},
    WordType{"kind", take_kinds}};

// Takes a word's values, and marks the word in `seen`.
Taken take(CaptureFilter& filter, const FilterWord& word,
           std::array<bool, kWordTypes.size()>& seen) {
  const auto type = std::find_if(kWordTypes.begin(), kWordTypes.end(),
                                 [&](const WordType& each) { return each.key == word.key; });
  const bool is_known = type != kWordTypes.end();
  if (word.values.empty() && (!is_known || type->reason == 0))
    return complaint(
        word.text,
        "each word must be a name, = and a value, such as tag=request, or failed, wanted or died");
  if (!is_known)
    return complaint(word.text,
                     "the words are tag, slower, failed, wanted, died, share, limit, pid, service,"
                     " process and kind;"
                     " a label is a part of the tag, as in tag='*{*status=504*}'");
  if (!word.values.empty() && type->reason != 0)
    return complaint(word.text, "this word takes no value");
  bool& is_seen = seen[static_cast<std::size_t>(type - kWordTypes.begin())];
  if (std::exchange(is_seen, true)) return complaint(word.text, "this word is given twice");
  const Taken taken = type->take(filter, word.values);
  if (!taken) return complaint(word.text, taken.error().message);
  return {};
}

std::size_t count_globs(const CaptureFilter& filter) {
  return filter.tags.size() + (filter.service ? 1 : 0) + (filter.process ? 1 : 0);
}

// Puts a glob into quotes if a byte in it would end the value.
void append_glob(std::string& text, const Glob& glob) {
  const std::string pattern = glob.text();
  const bool needs_quotes = pattern.find_first_of(" \t,") != pattern.npos;
  if (needs_quotes) text += '"';
  text += pattern;
  if (needs_quotes) text += '"';
}

void append_slower(std::string& text, std::uint64_t ns) {
  auto unit = kTimeUnits.rbegin();
  while (ns % unit->ns != 0) ++unit;  // the last one is 1
  text.append(" slower=").append(std::to_string(ns / unit->ns)).append(unit->name);
}

void append_share(std::string& text, std::uint64_t share) {
  text.append(" share=").append(std::to_string(share / kOnePercent));
  if (share % kOnePercent != 0) {
    const std::string decimals = std::to_string(kOnePercent + share % kOnePercent).substr(1);
    text.append(".").append(decimals, 0, decimals.find_last_not_of('0') + 1);
  }
  text += '%';
}

void append_kinds(std::string& text, const CaptureFilter& filter) {
  std::string_view before = " kind=";
  const auto append = [&](bool is_wanted, std::string_view kind) {
    if (is_wanted) text.append(std::exchange(before, ",")).append(kind);
  };
  append(filter.points, "point");
  append(filter.observations, "observe");
  append(filter.counters, "counter");
}

}  // namespace

Result<CaptureFilter> parse_capture_filter(std::string_view text, std::uint32_t limit) {
  const Error too_long{"a filter must have at most 1024 bytes and 32 patterns"};
  if (text.size() > kMaxFilterLength) return too_long;
  if (std::any_of(text.begin(), text.end(), is_control))
    return Error{"a filter must be one line without control characters"};

  CaptureFilter filter;
  filter.limit = limit;
  std::array<bool, kWordTypes.size()> seen{};
  const auto skip_blanks = [&] {
    text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  };
  skip_blanks();
  if (text.empty()) return Error{"the filter is empty; tag=* captures everything"};
  for (; !text.empty(); skip_blanks()) {
    const auto word = take_word(text);
    if (!word) return word.error();
    if (const Taken taken = take(filter, *word, seen); !taken) return taken.error();
  }
  // The canonical text may be longer, and is sent to the processes.
  if (count_globs(filter) > kMaxFilterGlobs || text_of(filter).size() > kMaxFilterLength)
    return too_long;
  return filter;
}

std::string text_of(const CaptureFilter& filter) {
  std::string text = "tag=";
  if (filter.tags.empty()) text += '*';
  for (const Glob& glob : filter.tags) {
    if (&glob != &filter.tags.front()) text += ',';
    append_glob(text, glob);
  }
  if (filter.slower_ns > 0) append_slower(text, filter.slower_ns);
  for (const WordType& type : kWordTypes)
    if ((filter.reasons & type.reason) != 0) text.append(" ").append(type.key);
  if (filter.share != kWholeShare) append_share(text, filter.share);
  text.append(" limit=").append(std::to_string(filter.limit)).append("/s");
  if (filter.pid != 0) text.append(" pid=").append(std::to_string(filter.pid));
  if (filter.service) append_glob(text.append(" service="), *filter.service);
  if (filter.process) append_glob(text.append(" process="), *filter.process);
  append_kinds(text, filter);
  return text;
}

void set_filter(Capture& capture, CaptureFilter filter) {
  capture.reasons = std::exchange(filter.reasons, 0);
  capture.filter = text_of(filter);
}

Result<CaptureFilter> filter_of(const Capture& capture) {
  auto filter = parse_capture_filter(capture.filter);
  if (filter) filter->reasons = capture.reasons & kAllReasons;
  return filter;
}

std::uint32_t reason_of(std::string_view word) {
  for (const WordType& type : kWordTypes)
    if (type.key == word) return type.reason;
  return 0;
}

bool matches_tag(const CaptureFilter& filter, std::string_view tag) {
  const auto matches = [&](std::string_view text) {
    return std::any_of(filter.tags.begin(), filter.tags.end(),
                       [&](const Glob& glob) { return glob.matches(text); });
  };
  if (filter.tags.empty() || matches(tag)) return true;
  const std::string_view name = bare_name(tag);
  return name.size() < tag.size() && matches(name);
}

bool matches_process(const CaptureFilter& filter, std::uint32_t pid, std::string_view service,
                     std::string_view process) {
  return (filter.pid == 0 || filter.pid == pid) &&
         (!filter.service || filter.service->matches(service)) &&
         (!filter.process || filter.process->matches(process));
}

// (1 - share) * 2^56, rounded up. Long division, since the product needs more than 64 bits.
std::uint64_t share_threshold(const CaptureFilter& filter) {
  if (filter.share >= kWholeShare) return 0;
  std::uint64_t taken = 0;  // share * 2^56
  std::uint64_t rest = filter.share;
  for (int bit = 0; bit < 56; ++bit) {
    rest *= 2;
    taken = taken * 2 + rest / kWholeShare;
    rest %= kWholeShare;
  }
  return kAllIds - taken;
}

}  // namespace pcp::trace::wire
