// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/show/waterfall.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

#include "command/show/why_slow.hpp"

namespace pcp::trace::command {

namespace {

constexpr std::size_t kDurationColumns = 9;
constexpr std::size_t kLeastName = 17;  // for a deeply nested event: "* ..", " = -1.2e-300"
constexpr std::size_t kLeastTag = 20;   // beside the trace's id; a shorter tag is whole
constexpr std::size_t kMostOfHost = 12;
// With fewer columns, the least important parts are left out.
constexpr std::size_t kForAll = 80;
constexpr std::size_t kForBars = 60;
constexpr std::size_t kStep = 2;  // indentation per level

double seconds(std::uint64_t ns) { return static_cast<double>(ns) / 1e9; }

// The milliseconds of a time since 1970.
std::string milliseconds(std::uint64_t ns) {
  const std::string digits = std::to_string(1000 + ns / 1'000'000 % 1000);
  return "." + digits.substr(1);
}

std::size_t line_count(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

std::string first_lines(const std::string& text, std::size_t most) {
  std::size_t end = 0;
  for (std::size_t i = 0; i < most && end < text.size(); ++i) end = text.find('\n', end) + 1;
  return text.substr(0, end);
}

bool are_of_several_hosts(const std::vector<SpanEvent>& spans) {
  return std::any_of(spans.begin(), spans.end(),
                     [&](const SpanEvent& span) { return span.host != spans.front().host; });
}

std::string torn_text(const std::string& from) {
  return from.empty() ? "what called it was not captured"
                      : "its part in " + from + " was not captured";
}

std::string lacking_text(const std::string& to) {
  return "no part" + (to.empty() ? "" : " in " + to) + " has come, as in other traces";
}

// "checkout{route=/cart} was open for 3.20 s in shop (pid 812), at last in query for 3.19 s".
std::string was_open(const OpenRequest& request, const Shown& shown, bool has_hosts) {
  constexpr std::size_t kMostOfTag = 40;
  constexpr std::size_t kMostOfService = 20;
  const auto& [span, last] = request;
  const auto open_for = [&](const SpanEvent& its) {
    return " for " + shown.duration(seconds(its.duration_ns));
  };
  return shown.name(span.tag, kMostOfTag) + " was open" + open_for(span) + " in " +
         shown.name(span.service.empty() ? span.process : span.service, kMostOfService) + " (pid " +
         std::to_string(span.pid) + ")" +
         (has_hosts ? " on " + shown.name(span.host, kMostOfHost) : "") +
         (last.span == span.span
              ? ""
              : ", at last in " + shown.name(last.tag, kMostOfTag) + open_for(last));
}

class Waterfall {
 public:
  Waterfall(const SpanTrace& trace, const Shown& shown, std::size_t most_spans)
      : trace_(trace),
        shown_(shown),
        most_spans_(most_spans),
        begin_(trace.begin_ns()),
        length_(std::max<std::uint64_t>(trace.end_ns() - begin_, 1)),
        bar_columns_(shown.terminal().columns < kForBars ? 0 : shown.terminal().columns / 4),
        where_columns_(shown.terminal().columns < kForAll ? 0 : shown.terminal().columns / 4),
        name_columns_(room_after(shown.terminal().columns,
                                 bar_columns_ + where_columns_ + kDurationColumns + 1)),
        has_hosts_(are_of_several_hosts(trace.spans)) {}

  std::string text();

 private:
  std::vector<bool> longest(const std::vector<Node>& nodes) const;
  std::string head(const Node& first) const;
  std::string reasons(const std::vector<Node>& nodes) const;
  std::string slow(const std::vector<Node>& nodes) const;
  std::string line(const Node& node) const;
  std::string notes(const Node& node) const;
  std::string end(std::size_t not_shown) const;
  std::string name(const Node& node, std::size_t columns) const;
  std::string where(const Node& node) const;
  std::string bar(const SpanEvent& span) const;
  std::string indent(const Node& node) const {
    return std::string(std::min(node.depth * kStep, room_after(name_columns_, kLeastName)), ' ');
  }
  // A line of its own below a span.
  std::string note(const Node& node, const std::string& text) const {
    const std::string begin = indent(node) + "  ";
    return begin + shown_.beginning(text, room_after(shown_.terminal().columns, begin.size()));
  }
  // The width of a duration.
  double columns_for(std::uint64_t ns) const {
    return static_cast<double>(ns) / static_cast<double>(length_) *
           static_cast<double>(bar_columns_);
  }

  const SpanTrace& trace_;
  const Shown& shown_;
  const std::size_t most_spans_;
  const std::uint64_t begin_;
  const std::uint64_t length_;
  const std::size_t bar_columns_;
  const std::size_t where_columns_;
  const std::size_t name_columns_;
  const bool has_hosts_;  // more than one host
  std::size_t missing_parents_ = 0;
};

std::string Waterfall::text() {
  const std::vector<Node> nodes = nodes_of(trace_);
  std::string text = head(nodes.front()) + reasons(nodes);
  std::size_t not_shown = 0;
  const std::vector<bool> shows = longest(nodes);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const Node& node = nodes[i];
    if (node.lacks_parent() && torn_from(trace_, node) == nullptr) ++missing_parents_;
    if (shows[i])
      text += line(node) + notes(node);
    else
      ++not_shown;
  }
  return text + end(not_shown);
}

// Which nodes to show if there are too many: the longest ones with those around them, and of equal
// ones the first.
std::vector<bool> Waterfall::longest(const std::vector<Node>& nodes) const {
  std::vector<std::uint64_t> weights(nodes.size());  // of the longest inside
  std::vector<std::uint64_t> deeper;                 // by depth: the longest of the nodes behind
  for (std::size_t i = nodes.size(); i-- > 0;) {
    const std::size_t depth = nodes[i].depth;
    deeper.resize(std::max(deeper.size(), depth + 2));
    weights[i] = std::max(nodes[i].span->duration_ns, std::exchange(deeper[depth + 1], 0));
    deeper[depth] = std::max(deeper[depth], weights[i]);
  }
  std::vector<std::size_t> order(nodes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater<>(), [&](std::size_t i) { return weights[i]; });
  std::vector<bool> shows(nodes.size());
  for (const std::size_t i : std::span(order).first(std::min(nodes.size(), most_spans_)))
    shows[i] = true;
  return shows;
}

std::string Waterfall::head(const Node& first) const {
  const auto begin = WallTime(std::chrono::nanoseconds(begin_));
  const std::uint64_t request_ns = trace_.request_ns();
  std::string rest =
      "  " + shown_.duration(seconds(request_ns > 0 ? request_ns : trace_.end_ns() - begin_)) +
      "  " + Shown::time(begin) + milliseconds(begin_);
  if (!has_hosts_ && bar_columns_ > 0) rest += "  " + shown_.name(first.span->host, kMostOfHost);
  const std::size_t room = room_after(shown_.terminal().columns, columns_of(rest));
  const std::string tag = shown_.name(first.span->tag, room);
  std::string id = trace_.id.is_set() && where_columns_ > 0 ? "  trace " + text_of(trace_.id) : "";
  if (std::min(columns_of(tag), kLeastTag) + id.size() > room) id.clear();
  return shown_.bold(shown_.name(first.span->tag, room_after(room, id.size())) + rest) +
         shown_.faint(id) + "\n";
}

// Why it is shown: what was open when its process died, and what was slow.
std::string Waterfall::reasons(const std::vector<Node>& nodes) const {
  std::string lines;
  if (const std::optional<OpenRequest> died = open_request(nodes))  // whole: it says the most
    lines = "  " + shown_.bad("died: " + was_open(*died, shown_, has_hosts_)) + "\n";
  return lines + slow(nodes);
}

// The transaction that was slow, if not that of the head.
std::string Waterfall::slow(const std::vector<Node>& nodes) const {
  const auto slow = std::ranges::find_if(nodes, [&](const Node& node) {
    return !node.span->is_event() && node.span->span == trace_.slow_span;
  });
  if (slow == nodes.begin() || slow == nodes.end()) return {};
  const SpanEvent& span = *slow->span;
  const std::string text =
      "slow: " + span.tag + "  " + shown_.duration(seconds(span.duration_ns)) +
      (span.service.empty() ? "" : "  in " + span.service + " " + std::to_string(span.pid)) +
      (has_hosts_ ? "@" + span.host : "");
  return "  " + shown_.name(text, room_after(shown_.terminal().columns, 2)) + "\n";
}

std::string Waterfall::line(const Node& node) const {
  const SpanEvent& span = *node.span;
  const std::string begin = indent(node);
  const std::string tag = name(node, room_after(name_columns_, begin.size() + 1));
  const bool is_bad = span.aborted || span.was_open();
  std::string line = Shown::left(begin + (is_bad ? shown_.bad(tag) : tag), name_columns_);
  if (where_columns_ > 0) line += Shown::left(where(node), where_columns_);
  line += Shown::right(span.is_event() ? ""
                                       : (span.was_open() ? shown_.at_least() : "") +
                                             shown_.duration(seconds(span.duration_ns)),
                       kDurationColumns);
  return Shown::trimmed(bar_columns_ > 0 ? line + " " + bar(span) : line) + "\n";
}

// The program's notes about a span, the reason of an abort, and parts that were not captured.
std::string Waterfall::notes(const Node& node) const {
  const SpanEvent& span = *node.span;
  std::string lines;
  if (span.was_open()) lines += shown_.bad(note(node, "open when its process died")) + "\n";
  if (span.aborted)
    lines +=
        shown_.bad(note(node, "aborted" + (span.reason.empty() ? "" : ": " + span.reason))) + "\n";
  const auto say = [&](const std::string& text) { lines += shown_.faint(note(node, text)) + "\n"; };
  if (const std::string* const from = torn_from(trace_, node)) say(torn_text(*from));
  if (const std::string* const to = lacks_part_in(trace_, node)) say(lacking_text(*to));
  const auto says_why = [](const ShownAttribute& note) { return note.key == "wanted"; };
  if ((span.reasons() & wire::kIfWanted) != 0 &&
      std::ranges::none_of(attributes_of(span.attributes), says_why))
    say("wanted");
  if (!span.attributes.empty()) say(shown_attributes(span.attributes));
  if (!span.links.empty()) say("see also " + span.links);
  if (span.left_out > 0)
    say(span.was_open() ? "its notes are missing: they were lost with the process"
                        : Shown::counted(span.left_out, "note") +
                              (span.left_out == 1 ? " is missing" : " are missing"));
  return lines;
}

std::string Waterfall::end(std::size_t not_shown) const {
  std::string lines;
  const auto say = [&](const std::string& text) {
    lines += shown_.faint("  " + shown_.beginning(text, room_after(shown_.terminal().columns, 2))) +
             "\n";
  };
  if (not_shown > 0) say("and " + Shown::counted(not_shown, "more span") + ", which --json has");
  if (trace_.spans_left_out > 0)
    say(Shown::counted(trace_.spans_left_out, "more span") + " left out: the limit is reached");
  if (trace_.is_late)
    say("late: it belongs to a trace that was shown before");
  else if (missing_parents_ > 0)
    say(Shown::counted(missing_parents_, "parent") + (missing_parents_ == 1 ? " has" : " have") +
        " not come: still open, traced elsewhere, or not captured");
  return lines;
}

std::string Waterfall::name(const Node& node, std::size_t columns) const {
  const SpanEvent& span = *node.span;
  if (!span.is_event()) return shown_.name(span.tag, columns);
  std::string value;
  if (span.kind == wire::SpanKind::Add) value = " + " + Shown::number(span.value);
  if (span.kind == wire::SpanKind::Observe || span.kind == wire::SpanKind::Counter)
    value = " = " + Shown::number(span.value);
  const std::string mark = shown_.sign("· ", "* ");
  const std::size_t room = room_after(columns, columns_of(mark) + value.size());
  return mark + shown_.name(span.tag, room) + value;
}

// The span's place, if it differs from the parent's.
std::string Waterfall::where(const Node& node) const {
  const SpanEvent& span = *node.span;
  const SpanEvent* const parent = node.parent;
  const bool is_elsewhere = parent == nullptr || parent->host != span.host;
  if (!is_elsewhere && parent->pid == span.pid) return "";
  std::string text = span.service.empty() ? span.process : span.service;
  if (span.pid != 0) text += (text.empty() ? "" : " ") + std::to_string(span.pid);
  if (has_hosts_ && is_elsewhere) text += "@" + span.host;
  return shown_.name(text, where_columns_ - 1);
}

// Equal durations give bars of equal length, wherever they begin, in eighths of columns if the
// terminal has UTF-8. The shortest bar is a thin line. The bar of what was open has no end.
std::string Waterfall::bar(const SpanEvent& span) const {
  constexpr std::array kEighths{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const auto rounded = [](double number) { return static_cast<std::size_t>(std::lround(number)); };
  const std::size_t begin =
      std::min(rounded(columns_for(span.begin_ns - begin_)), bar_columns_ - 1);
  const std::string before(begin, ' ');
  if (span.is_event()) return before + shown_.sign("·", "*");
  const std::size_t room = bar_columns_ - begin;
  const double columns = columns_for(span.duration_ns);
  std::string bar;
  if (span.was_open()) {
    for (std::size_t i = 1; i < std::min(rounded(columns), room); ++i) bar += shown_.sign("█", "=");
    bar += shown_.sign("→", ">");
  } else if (shown_.terminal().is_utf8) {
    const std::size_t eighths = std::clamp<std::size_t>(rounded(columns * 8), 1, room * 8);
    for (std::size_t i = 0; i < eighths / 8; ++i) bar += "█";
    bar += kEighths[eighths % 8];
  } else {
    bar.assign(std::min(rounded(columns), room), '=');
    if (bar.empty()) bar = "|";
  }
  return before + (span.aborted || span.was_open() ? shown_.bad(bar) : bar);
}

}  // namespace

std::string waterfall(const SpanTrace& trace, const Shown& shown, std::size_t most_spans) {
  return Waterfall(trace, shown, most_spans).text();
}

std::vector<std::string> died_requests(const Died& died, const Shown& shown) {
  const auto& longest = died.longest;
  const bool has_hosts = std::ranges::any_of(longest, [&](const OpenRequest& each) {
    return each.outermost.host != longest.front().outermost.host;
  });
  std::vector<std::string> lines;
  for (const OpenRequest& each : longest) {
    std::string line = was_open(each, shown, has_hosts);
    if (each.last.span != each.outermost.span) line += ",";
    lines.push_back(line + " when the process died");
  }
  return lines;
}

std::string how_to_see_spans(const std::vector<std::string>& archives) {
  std::string names;
  for (const std::string& archive : archives) names += " -a " + printed_name(archive);
  return "pcp-trace spans" + names;
}

std::string died_lines(const RecordedSpans& spans, const std::vector<std::string>& archives,
                       const Shown& shown) {
  std::string text;
  for (const std::string& line : died_requests(spans.died, shown)) text += shown.bad(line) + "\n";
  if (text.empty()) return text;
  if (const std::uint64_t more = spans.died.more(); more > 0)
    text += "and " + Shown::count(static_cast<double>(more)) +
            " more; whole requests: " + how_to_see_died(archives) + "\n";
  return text + "\n";
}

std::string span_counts(const RecordedSpans& spans, const Shown& shown) {
  const std::string what = spans.traces == 0 ? "no traces"
                                             : Shown::counted(spans.traces, "trace") + ", " +
                                                   Shown::counted(spans.spans, "span");
  const bool is_all = spans.missed == 0 && !spans.has_gap;
  return shown.faint("captured ") + what +
         (is_all ? "" : "; " + Shown::missed(spans.missed, spans.has_gap)) + "\n";
}

// Each gets as many spans as its lines allow: a span may have lines of its own below it. One tree
// that shows where its time went is better than two that break off above this.
std::string slowest_trees(const RecordedSpans& spans, const Shown& shown, const std::string& more) {
  constexpr std::size_t kMostLines = 19;  // and an empty one at the end
  constexpr std::size_t kMostTrees = 2;
  const auto has_room = [&](const SpanTrace& trace) {
    return line_count(waterfall(trace, shown)) < kMostLines / kMostTrees;
  };
  std::size_t trees = std::min(spans.slowest.size(), kMostTrees);
  if (!std::ranges::all_of(std::span(spans.slowest).first(trees), has_room)) trees = 1;
  std::string text;
  for (std::size_t i = 0; i < trees; ++i) {
    const std::size_t most_lines = kMostLines / trees - 1;
    std::string tree;
    for (std::size_t most_spans = most_lines - 1; most_spans > 0; --most_spans) {
      tree = waterfall(spans.slowest[i], shown, most_spans);
      if (line_count(tree) <= most_lines) break;
    }
    text += "\n" + first_lines(tree, most_lines);
  }
  return text.empty() ? "" : text + "\n" + (spans.traces > trees ? more : "");
}

std::string span_summary(const RecordedSpans& spans, const std::vector<std::string>& archives,
                         const Shown& shown) {
  constexpr std::size_t kMostTrees = 3;
  constexpr std::size_t kMostSpansOfATree = 15;
  std::string text = span_counts(spans, shown) + why_slow(spans, shown, kMostTrees);
  const std::size_t trees = std::min(spans.slowest.size(), kMostTrees);
  for (std::size_t i = 0; i < trees; ++i)
    text += "\n" + waterfall(spans.slowest[i], shown, kMostSpansOfATree);
  return spans.traces == 0 ? text : text + "\nall traces: " + how_to_see_spans(archives) + "\n";
}

}  // namespace pcp::trace::command
