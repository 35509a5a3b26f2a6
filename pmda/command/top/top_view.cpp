// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/top/top_view.hpp"

#include <curses.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "base/descriptor.hpp"

namespace pcp::trace::command {

namespace {

constexpr std::size_t kLeastHeight = 5;
constexpr std::size_t kLeastWidth = 20;
constexpr std::size_t kRowsForTimes = 8;  // with fewer, the line about times is left out
constexpr Duration kRedraw = std::chrono::milliseconds(250);
constexpr int kEscape = 27;
constexpr int kRubout = 127;

const std::vector<std::string> kHelp{
    "Keys",
    "  Up Down PgUp PgDn Home End  choose a tag",
    "  Enter     all about this tag; while that is shown, its slow",
    "            transactions are captured, and programs run slower",
    "  < >       sort by another column",
    "  Tab       transactions, observations, or points and counters",
    "  /         show only some tags: * ? [...] as in a shell, or a part",
    "  Space     pause, and go on",
    "  q Esc     go back, or quit",
    "",
    "Columns",
    "  calls /s failed total mean busy: between the two last readings",
    "  p50 p95 p99 (of completed calls), max: in the agent's window",
    "  busy: transactions at once, on average; open: open now",
};

bool is_enter(int key) { return key == '\n' || key == '\r' || key == KEY_ENTER; }

class View {
 public:
  View(Screen& screen, const TopOptions& options, TagFeed& feed)
      : screen_(screen), options_(options), feed_(feed), choice_(options.choice) {
    for (const int each : {STDIN_FILENO, feed.descriptor()}) {
      epoll_event event{EPOLLIN, {}};
      ::epoll_ctl(events_.get(), EPOLL_CTL_ADD, each, &event);
    }
  }

  void run(Interruption& interruption) {
    do {
      for (int key = screen_.key(); key != ERR; key = screen_.key())
        if (!take_key(key)) return;
      if (!is_paused_) take_tags();
      if (options_.samples && taken_ > *options_.samples) return;
      draw();
    } while (!interruption.comes_before(steady_now() + kRedraw, events_.get()));
  }

 private:
  enum class Mode { Table, Prompt, Detail, Help };

  void take_tags() {
    std::optional<Recent> recent = feed_.take();
    if (!recent) return;
    ++taken_;
    recent_ = *std::move(recent);
    choose();
  }

  // The list has pointers to tags. A table without any gives way to the next one.
  void choose() {
    for (std::size_t i = 0; i < kTableTitles.size(); ++i) {
      list_ = chosen_tags(recent_.tags, kind_, choice_);
      if (!list_.empty()) break;
      kind_ = (kind_ + 1) % kTableTitles.size();
    }
    selected_ = std::min(selected_, room_after(list_.size(), 1));
  }

  // False at the end.
  bool take_key(int key) {
    if (mode_ == Mode::Prompt) {
      take_prompt_key(key);
      return true;
    }
    const bool is_table = mode_ == Mode::Table;
    std::size_t& at = is_table ? selected_ : scrolled_;
    const std::size_t most = is_table ? room_after(list_.size(), 1) : page_end_;
    if (key == KEY_UP) at = room_after(at, 1);
    if (key == KEY_DOWN) at = std::min(at + 1, most);
    if (key == KEY_PPAGE) at = room_after(at, room_);
    if (key == KEY_NPAGE) at = std::min(at + room_, most);
    if (key == KEY_HOME) at = 0;
    if (key == KEY_END) at = most;
    if (key == ' ') is_paused_ = !is_paused_;
    if (key == 'q' || key == kEscape) {
      if (is_table) return key != 'q';
      show_page(Mode::Table);
    }
    if (key == '?') show_page(Mode::Help);
    if (!is_table) return true;
    if (key == '/') mode_ = Mode::Prompt;
    if (key == '<' || key == '>') sort_by_neighbour(key == '>' ? 1 : -1);
    if (key == '\t') {
      kind_ = (kind_ + 1) % kTableTitles.size();
      selected_ = 0;
      choose();
    }
    if (is_enter(key) && !list_.empty()) open(*list_[selected_]);
    return true;
  }

  void take_prompt_key(int key) {
    std::string pattern = choice_.text;
    if (key == kEscape) pattern.clear();
    if (key == kEscape || (is_enter(key) && mistake_.empty())) mode_ = Mode::Table;
    const bool is_erasing = key == KEY_BACKSPACE || key == kRubout || key == '\b';
    if (is_erasing && !pattern.empty()) {
      while (pattern.size() > 1 && (pattern.back() & 0xc0) == 0x80) pattern.pop_back();  // UTF-8
      pattern.pop_back();
    } else if (key >= ' ' && key <= 0xff && key != kRubout) {
      pattern += static_cast<char>(key);
    }
    const Result<void> set = choice_.set_pattern(pattern);
    mistake_ = set ? "" : set.error().message;
    choose();
  }

  // The next column of the table, to the left or to the right.
  void sort_by_neighbour(int step) {
    for (auto at = static_cast<int>(index_of(choice_.sort)) + step;
         at >= 0 && at < static_cast<int>(kFigureCount); at += step) {
      const FigureRow& row = kFigures[static_cast<std::size_t>(at)];
      if (row.summary.width == 0 || heading_of(row.figure, kind_).empty()) continue;
      choice_.sort = row.figure;
      return choose();
    }
  }

  void show_page(Mode mode) {
    mode_ = mode;
    scrolled_ = 0;
    spans_.reset();
    if (std::exchange(opened_, std::nullopt)) feed_.open({});
  }

  void open(const Tag& tag) {
    show_page(Mode::Detail);
    opened_ = TagKey{tag.type, tag.name};
    feed_.open(opened_);
  }

  // Not before it is known what is slow: programs would be asked for all.
  void capture_slow(const Tag* tag) {
    const bool can_capture = !options_.archive && opened_->first == TraceType::Transact;
    if (can_capture && !spans_ && tag != nullptr && tag->percentiles[kP99])
      spans_ = std::make_unique<SlowSpans>(options_.hosts, tag->name, *tag->percentiles[kP99]);
  }

  void draw() {
    const Shown shown(screen_.terminal());
    const std::size_t rows = screen_.rows();
    const std::size_t columns = shown.terminal().columns;
    std::vector<std::string> lines;
    std::size_t reversed = rows;
    if (rows < kLeastHeight || columns < kLeastWidth) {
      const std::string text = "The terminal needs 20 columns and 5 lines.";
      for (std::size_t row = 0; row < rows; ++row)
        lines.push_back(text.substr(std::min(row * columns, text.size()), columns));
    } else {
      std::vector<std::string> below = feed_.troubles();
      below.resize(std::min(below.size(), rows / 4));
      below.push_back(last_line());
      lines.push_back(title(shown));
      if (rows >= kRowsForTimes && taken_ > 0)
        lines.push_back(shown.faint(shown.beginning(covered_time(recent_, shown), columns)));
      room_ = rows - lines.size() - below.size();
      if (mode_ == Mode::Help || mode_ == Mode::Detail)
        add_page(lines, mode_ == Mode::Help ? kHelp : detail(shown));
      else
        reversed = add_table(lines, shown);
      lines.resize(rows - below.size());
      for (const std::string& each : below) lines.push_back(shown.beginning(each, columns));
    }
    for (std::size_t row = 0; row < rows; ++row) screen_.set_line(row, lines[row], row == reversed);
    screen_.show();
  }

  void add_page(std::vector<std::string>& lines, const std::vector<std::string>& page) {
    page_end_ = room_after(page.size(), room_);
    scrolled_ = std::min(scrolled_, page_end_);
    for (std::size_t i = scrolled_; i < std::min(scrolled_ + room_, page.size()); ++i)
      lines.push_back(page[i]);
  }

  // Gives the row of the selected tag.
  std::size_t add_table(std::vector<std::string>& lines, const Shown& shown) {
    const TagTable table(shown, recent_.tags, choice_.sort, true);
    lines.push_back(shown.bold(table.heading(kind_)));
    --room_;
    first_ = std::clamp(first_, room_after(selected_ + 1, room_), selected_);
    const std::size_t selected = lines.size() + selected_ - first_;
    const auto end = std::min(first_ + room_, list_.size());
    std::ranges::move(table.rows(std::span(list_).subspan(first_, end - first_)),
                      std::back_inserter(lines));
    if (!list_.empty()) return selected;
    lines.emplace_back(taken_ == 0            ? "reading ..."
                       : choice_.text.empty() ? "no tag yet"
                                              : "no tag matches");
    return screen_.rows();
  }

  std::vector<std::string> detail(const Shown& shown) {
    const auto its = std::ranges::find_if(recent_.tags, [&](const Tag& tag) {
      return tag.type == opened_->first && tag.name == opened_->second;
    });
    const Tag* const tag = its == recent_.tags.end() ? nullptr : &*its;
    capture_slow(tag);
    std::vector<std::string> lines = detail_lines(*opened_, tag, feed_.details(), shown);
    if (spans_) std::ranges::move(spans_->lines(shown), std::back_inserter(lines));
    return lines;
  }

  std::string title(const Shown& shown) const {
    std::string text = is_paused_ ? "PAUSED  " : "";
    text += taken_ == 0 ? "pcp-trace top" : Shown::time(recent_.at);
    for (const std::string& host : recent_.hosts) text += "  " + host;
    text += "  " + Shown::counted(list_.size(), "tag");
    if (!choice_.text.empty()) text += " of \"" + choice_.text + "\"";
    text += ", by " + std::string(row_of(choice_.sort).summary.sort);
    if (options_.archive && feed_.is_over()) text += ", end of the archive";
    return shown.beginning(text, shown.terminal().columns);
  }

  std::string last_line() const {
    if (mode_ == Mode::Prompt)
      return "/" + choice_.text + "_" + (mistake_.empty() ? "" : "  " + mistake_);
    if (mode_ != Mode::Table) return "q back  Up Down scroll  Space pause";
    return "q quit  ? help  / filter  < > sort  Enter open  Tab tables  Space pause";
  }

  Screen& screen_;
  const TopOptions& options_;
  TagFeed& feed_;
  TagChoice choice_;
  const Descriptor events_{::epoll_create1(EPOLL_CLOEXEC)};

  Mode mode_ = Mode::Table;
  Recent recent_;
  std::uint64_t taken_ = 0;
  std::size_t kind_ = 0;  // of the table
  TagList list_;
  std::size_t selected_ = 0;
  std::size_t first_ = 0;     // shown
  std::size_t room_ = 0;      // for lines of the body
  std::size_t scrolled_ = 0;  // lines of a page
  std::size_t page_end_ = 0;
  std::string mistake_;
  bool is_paused_ = false;
  std::optional<TagKey> opened_;
  std::unique_ptr<SlowSpans> spans_;
};

}  // namespace

void view_tags(Screen& screen, const TopOptions& options, TagFeed& feed,
               Interruption& interruption) {
  View(screen, options, feed).run(interruption);
}

}  // namespace pcp::trace::command
