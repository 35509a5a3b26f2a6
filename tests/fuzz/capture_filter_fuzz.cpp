// SPDX-License-Identifier: LGPL-2.1-or-later
// Filters of captures. The input is a filter, a line feed, and a text that serves as a tag or a
// name. The canonical text of an accepted filter parses to the same filter; a refused filter gives
// a complaint of one line. Globs match like a shell's.
#include <fnmatch.h>

#include <algorithm>
#include <string>

#include "fuzz/input.hpp"
#include "wire/capture_filter.hpp"

using namespace pcp::trace;
using fuzz::Input;
using fuzz::require;

namespace {

using namespace pcp::trace::wire;

void check_complaint(const std::string& complaint) {
  require(!complaint.empty() && complaint.size() < 256);
  require(std::all_of(complaint.begin(), complaint.end(),
                      [](char c) { return static_cast<unsigned char>(c) >= ' ' && c != '\x7f'; }));
}

// The oracle is fnmatch, except for its classes ([:alpha:] and such), for NUL, and for patterns
// that may take it for ever.
void compare_with_shells(const std::string& pattern, const Glob& glob, const std::string& text) {
  constexpr std::size_t kMostStars = 4;
  const auto stars = static_cast<std::size_t>(std::count(pattern.begin(), pattern.end(), '*'));
  const bool has_class = pattern.find("[:") != pattern.npos || pattern.find("[.") != pattern.npos ||
                         pattern.find("[=") != pattern.npos;
  if (has_class || stars > kMostStars || pattern.find('\0') != pattern.npos ||
      text.find('\0') != text.npos)
    return;
  require(glob.matches(text) == (fnmatch(pattern.c_str(), text.c_str(), 0) == 0));
}

void check_glob(const std::string& pattern, const std::string& text) {
  const auto glob = Glob::parse(pattern);
  if (!glob) {
    check_complaint(glob.error().message);
    return;
  }
  const auto again = Glob::parse(glob->text());
  require(again && *again == *glob && again->text() == glob->text());
  compare_with_shells(pattern, *glob, text);
}

void check_filter(const CaptureFilter& filter, const std::string& text) {
  const std::string canonical = text_of(filter);
  require(canonical.size() <= kMaxFilterLength);
  const auto again = parse_capture_filter(canonical);
  require(again && *again == filter && text_of(*again) == canonical);

  require(filter.limit > 0 && filter.limit <= kMaxLimit && filter.slower_ns <= kMaxSlowerNs);
  require(filter.share > 0 && filter.share <= kWholeShare);
  const std::uint64_t threshold = share_threshold(filter);
  require(threshold < kAllIds && reaches_threshold(~std::uint64_t{0}, threshold));
  require((threshold == 0) == (filter.share == kWholeShare));

  const bool matches = std::any_of(filter.tags.begin(), filter.tags.end(),
                                   [&](const Glob& glob) { return glob.matches(text); });
  if (filter.tags.empty() || matches) require(matches_tag(filter, text));
  require(matches_tag(*again, text) == matches_tag(filter, text));
  require(matches_process(*again, 1, text, text) == matches_process(filter, 1, text, text));
}

}  // namespace

void fuzz::run(Input input) {
  const std::string line(input.line());
  const std::string text(input.rest());
  const auto filter = parse_capture_filter(line);
  if (filter)
    check_filter(*filter, text);
  else
    check_complaint(filter.error().message);
  check_glob(line, text);
}
