// SPDX-License-Identifier: LGPL-2.1-or-later
#include "collector/engine/cumulative_histogram.hpp"

#include <algorithm>
#include <charconv>
#include <vector>

#include "base/base64.hpp"
#include "wire/histogram_codec.hpp"

namespace pcp::trace::agent {

namespace {

constexpr std::string_view kVersion = "1";
constexpr std::string_view kEmpty = "-";  // stands for no bytes: a text always has six words
constexpr std::size_t kMaxBase64 = (CumulativeHistogram::kMaxPackedBytes + 2) / 3 * 4;

// Takes the next word and the blank after it, or the rest of the text.
std::string_view take_word(std::string_view& text) {
  const std::string_view word = text.substr(0, text.find(' '));
  text.remove_prefix(std::min(word.size() + 1, text.size()));
  return word;
}

// Decimal, without leading zeros.
std::optional<std::uint64_t> parse_number(std::string_view word) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(word.begin(), word.end(), number);
  if (error != std::errc() || end != word.end() || number > CumulativeHistogram::kMaxNumber ||
      (word.front() == '0' && word.size() > 1)) {
    return std::nullopt;
  }
  return number;
}

std::optional<std::string> parse_packed(std::string_view word) {
  std::string packed;
  if (word == kEmpty) return packed;
  if (word.empty() || word.size() > kMaxBase64 || !decode_base64(word, packed) ||
      packed.size() > CumulativeHistogram::kMaxPackedBytes) {
    return std::nullopt;
  }
  return packed;
}

struct Bin {
  std::int32_t number;
  std::uint64_t count;
};

std::vector<Bin> bins_of(Histogram histogram, unsigned coarseness) {
  histogram.coarsen_to(coarseness);
  std::string packed;
  histogram.pack(packed);
  std::vector<Bin> bins;
  for_each_packed_bin(packed, [&](std::int32_t number, std::uint64_t count) {
    bins.push_back({number, count});
  });
  return bins;
}

// Nothing if `older` is not contained in `newer`.
std::optional<Histogram> subtract(const Histogram& newer, const Histogram& older) {
  const unsigned coarseness = std::max(newer.coarseness(), older.coarseness());
  const std::vector<Bin> less = bins_of(older, coarseness);
  Histogram rest;
  rest.coarsen_to(coarseness);
  auto next = less.begin();
  for (Bin bin : bins_of(newer, coarseness)) {
    if (next != less.end() && next->number == bin.number) {
      if (next->count > bin.count) return std::nullopt;
      bin.count -= next++->count;
    }
    if (bin.count > 0) rest.add_bin(bin.number, coarseness, bin.count);
  }
  if (next != less.end()) return std::nullopt;
  return rest;
}

}  // namespace

std::string cumulative_histogram_text(std::uint64_t since_ns, std::uint64_t count,
                                      std::uint64_t unbinned, std::string_view packed) {
  const unsigned coarseness = packed.empty() ? 0 : packed_coarseness(packed);
  std::string text(kVersion);
  for (const std::uint64_t number : {since_ns, std::uint64_t{coarseness}, count, unbinned})
    text += " " + std::to_string(number);
  text += ' ';
  if (packed.empty())
    text += kEmpty;
  else
    encode_base64(packed, text);
  return text;
}

std::optional<CumulativeHistogram> parse_cumulative_histogram(std::string_view text) {
  if (take_word(text) != kVersion) return std::nullopt;
  const auto since_ns = parse_number(take_word(text));
  const auto coarseness = parse_number(take_word(text));
  const auto count = parse_number(take_word(text));
  const auto unbinned = parse_number(take_word(text));
  const auto packed = parse_packed(text);
  if (!since_ns || !coarseness || !count || !unbinned || !packed) return std::nullopt;
  CumulativeHistogram parsed{*since_ns, *unbinned, {}};
  if (!parsed.histogram.merge_packed(*packed)) return std::nullopt;
  if (parsed.histogram.total() != *count || parsed.histogram.coarseness() != *coarseness)
    return std::nullopt;
  return parsed;
}

CumulativeHistogram subtract(const CumulativeHistogram& newer, const CumulativeHistogram& older) {
  if (newer.since_ns != older.since_ns || newer.unbinned < older.unbinned) return newer;
  auto between = subtract(newer.histogram, older.histogram);
  if (!between) return newer;
  return {newer.since_ns, newer.unbinned - older.unbinned, *std::move(between)};
}

}  // namespace pcp::trace::agent
