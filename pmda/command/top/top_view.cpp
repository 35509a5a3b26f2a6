// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/top/top_view.hpp"

#define NCURSES_NOMACROS  // such as move()
#include <curses.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <span>
#include <utility>

#include "base/descriptor.hpp"

namespace pcp::trace::command {

const char* const kTopKeys = R"(Keys
  Up Down PgUp PgDn Home End  choose a tag
  Enter     all about this tag; while that is shown, its slow
            transactions are captured, and programs run slower
  < >       sort by another column
  Tab       transactions, observations, or points and counters
  /         show only some tags: * ? [...] as in a shell, or a part
  Space     pause, and go on
  q Esc     go back; q quits

Columns
  calls /s failed total mean busy: between the two last readings
  p50 p95 p99 (of completed calls), max: in the agent's window
  busy: transactions at once, on average; open: open now
)";

namespace {

constexpr Duration kRedraw = std::chrono::milliseconds(250);
constexpr std::size_t kRowsForTimes = 8;  // with fewer, the line about times is left out

constexpr int kEscape = 27;
constexpr int kRubout = 127;

volatile std::sig_atomic_t was_continued = 0;

// Handlers run only in Screen::key(): other threads inherit that these signals are blocked.
void let_signals_come(bool do_come) {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int each : {SIGWINCH, SIGTSTP, SIGCONT}) sigaddset(&signals, each);
  pthread_sigmask(do_come ? SIG_UNBLOCK : SIG_BLOCK, &signals, nullptr);
}

// The whole terminal: lines and keys, by ncurses. Made before other threads.
class Screen {
 public:
  Screen() : terminal_(terminal_of(STDOUT_FILENO)) {
    // PCP's library would write over the screen.
    if (const Descriptor nowhere(::open("/dev/null", O_WRONLY | O_CLOEXEC));
        nowhere && ::isatty(STDERR_FILENO) == 1) {
      errors_ = Descriptor(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3));
      ::dup2(nowhere.get(), STDERR_FILENO);
    }
    let_signals_come(false);
    std::signal(SIGCONT, [](int) { was_continued = 1; });
    ::cbreak();
    ::noecho();
    ::nodelay(stdscr, TRUE);
    ::keypad(stdscr, TRUE);
    ::set_escdelay(25);
    ::curs_set(0);
    if (!terminal_.has_colors || !::has_colors()) return;
    ::start_color();
    ::use_default_colors();
    ::init_pair(COLOR_RED, COLOR_RED, -1);
    ::init_pair(COLOR_GREEN, COLOR_GREEN, -1);
  }

  ~Screen() {
    ::endwin();
    let_signals_come(true);
    if (errors_) ::dup2(errors_.get(), STDERR_FILENO);
  }
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  std::size_t rows() const { return static_cast<std::size_t>(LINES); }

  Terminal terminal() const {
    Terminal now = terminal_;
    now.columns = static_cast<std::size_t>(COLS);
    return now;
  }

  // Gives the next key of ncurses; ERR: none. Resizes and suspends when the terminal has asked for
  // it, so call it often.
  int key() {
    let_signals_come(true);
    const int key = ::getch();
    let_signals_come(false);
    if (was_continued == 0) return key;
    // After SIGSTOP a shell has changed the terminal.
    was_continued = 0;
    ::endwin();
    ::refresh();
    return key;
  }

  // Shows lines, which may have Shown's marks.
  void draw(const std::vector<std::string>& lines, std::size_t selected) {
    ::erase();
    for (std::size_t row = 0; row < lines.size(); ++row) {
      ::move(static_cast<int>(row), 0);
      for (std::string_view text = lines[row]; !text.empty();) {
        const std::size_t length = std::min(text.find("\033["), text.size());
        ::addnstr(text.data(), static_cast<int>(length));
        text.remove_prefix(length);
        if (text.empty()) break;
        ::attrset(attribute_of(std::atoi(text.data() + 2)));
        text.remove_prefix(std::min(text.find('m'), text.size() - 1) + 1);
      }
    }
    if (selected < lines.size())
      ::mvchgat(static_cast<int>(selected), 0, -1, A_REVERSE, 0, nullptr);
    ::refresh();
  }

 private:
  // The attribute of an escape sequence of Shown.
  static int attribute_of(int code) {
    constexpr int kFirstColor = 30;
    if (code >= kFirstColor) return static_cast<int>(COLOR_PAIR(code - kFirstColor));
    return static_cast<int>(code == 1 ? A_BOLD : code == 2 ? A_DIM : A_NORMAL);
  }

  const Terminal terminal_;
  Descriptor errors_;  // standard error, while it is hidden
};

// Breaks a long line between words, or between figures, which have two blanks between them.
void add_wrapped(std::vector<std::string>& lines, std::string line, std::size_t columns) {
  constexpr std::string_view kIndent = "  ";
  while (columns_of(line) > columns) {
    std::size_t at = line.rfind("  ", columns);
    if (at == line.npos || at < kIndent.size()) at = line.rfind(' ', columns);
    if (at == line.npos || at <= kIndent.size()) break;
    lines.push_back(line.substr(0, at));
    line.replace(0, line.find_first_not_of(' ', at), kIndent);
  }
  lines.push_back(std::move(line));
}

bool is_enter(int key) { return key == '\n' || key == '\r' || key == KEY_ENTER; }

class View {
 public:
  View(const TopOptions& options, TagFeed& feed)
      : options_(options), feed_(feed), choice_(options.choice) {}

  void run(Interruption& interruption) {
    do {
      for (int key = screen_.key(); key != ERR; key = screen_.key())
        if (!take_key(key)) return;
      take_tags();
      if (options_.samples && taken_ > *options_.samples) return;
      draw();
    } while (!interruption.comes_before(std::min(feed_.due(), steady_now() + kRedraw),
                                        {STDIN_FILENO, feed_.descriptor()}));
  }

 private:
  enum class Mode { Table, Prompt, Detail, Help };

  void take_tags() {
    std::optional<Recent> recent = feed_.take(is_paused_);
    if (recent) {
      ++taken_;
      const auto has_calls = [](const Tag& tag) { return tag.calls > 0; };
      if (options_.archive && std::ranges::any_of(recent->tags, has_calls)) busy_ = recent;
    } else if (options_.archive && feed_.is_over()) {
      recent = std::exchange(busy_, {});
    }
    if (!recent) return;
    recent_ = *std::move(recent);
    choose();
  }

  const TablesOf<Tag>::value_type& list() const { return tables_[kind_]; }

  // The tables have pointers to tags. One without any gives way to the next one.
  void choose() {
    tables_ = chosen_tags(recent_.tags, choice_);
    for (std::size_t i = 0; i < tables_.size() && list().empty(); ++i) next_table();
    selected_ = std::min(selected_, room_after(list().size(), 1));
  }

  void next_table() { kind_ = (kind_ + 1) % tables_.size(); }

  // False at the end.
  bool take_key(int key) {
    if (mode_ == Mode::Prompt) {
      take_prompt_key(key);
      return true;
    }
    const bool is_table = mode_ == Mode::Table;
    std::size_t& at = is_table ? selected_ : scrolled_;
    const std::size_t most = is_table ? room_after(list().size(), 1) : page_end_;
    if (key == KEY_UP) at = room_after(at, 1);
    if (key == KEY_DOWN) at = std::min(at + 1, most);
    if (key == KEY_PPAGE) at = room_after(at, room_);
    if (key == KEY_NPAGE) at = std::min(at + room_, most);
    if (key == KEY_HOME) at = 0;
    if (key == KEY_END) at = most;
    if (key == ' ') is_paused_ = !is_paused_;
    if (key == '?') show_page(Mode::Help);
    if (is_table) return take_table_key(key);
    if (key == 'q' || key == kEscape) show_page(Mode::Table);
    return true;
  }

  bool take_table_key(int key) {
    if (key == '/') mode_ = Mode::Prompt;
    if (key == '<' || key == '>') sort_by_neighbour(key == '>' ? 1 : ~std::size_t{0});
    if (key == '\t') {
      next_table();
      selected_ = 0;
      choose();
    }
    if (is_enter(key) && !list().empty()) {
      is_paused_ = false;  // the page has more to read
      show_page(Mode::Detail, TagKey{list()[selected_]->type, list()[selected_]->name});
    }
    return key != 'q';
  }

  void take_prompt_key(int key) {
    std::string pattern = choice_.text;
    if (key == kEscape) pattern.clear();
    if (key == kEscape || (is_enter(key) && mistake_.empty())) mode_ = Mode::Table;
    if (key == KEY_BACKSPACE || key == kRubout || key == '\b') {
      while (pattern.size() > 1 && (pattern.back() & 0xc0) == 0x80) pattern.pop_back();  // UTF-8
      if (!pattern.empty()) pattern.pop_back();
    } else if (key >= ' ' && key <= 0xff) {
      pattern += static_cast<char>(key);
    }
    const Result<void> set = choice_.set_pattern(pattern);
    mistake_ = set ? "" : set.error().message;
    choose();
  }

  // The next column of the table, to the left (-1, so that 0 wraps around) or to the right.
  void sort_by_neighbour(std::size_t step) {
    for (std::size_t at = index_of(choice_.sort) + step; at < kFigureCount; at += step) {
      const FigureRow& row = kFigures[at];
      if (row.summary.width == 0 || heading_of(row.figure, kind_).empty()) continue;
      choice_.sort = row.figure;
      return choose();
    }
  }

  void show_page(Mode mode, const std::optional<TagKey>& tag = {}) {
    mode_ = mode;
    scrolled_ = 0;
    spans_.reset();
    feed_.open(tag);
  }

  void draw() {
    const Shown shown(screen_.terminal());
    const std::size_t rows = screen_.rows();
    const std::size_t columns = shown.terminal().columns;
    std::vector<std::string> lines{title(shown)};
    std::vector<std::string> below = feed_.troubles();
    below.resize(std::min(below.size(), rows / 4));
    below.push_back(last_line());
    if (rows >= kRowsForTimes && taken_ > 0)
      lines.push_back(shown.faint(shown.beginning(covered_time(recent_, shown), columns)));
    room_ = room_after(rows, lines.size() + below.size());
    std::size_t selected = rows;
    if (rows < 5 || columns < 20) {
      const std::string text = "The terminal needs 20 columns and 5 lines.";
      lines.clear();
      below.clear();
      for (std::size_t row = 0; row < rows; ++row)
        lines.push_back(text.substr(std::min(row * columns, text.size()), columns));
    } else if (mode_ == Mode::Help || mode_ == Mode::Detail) {
      add_page(lines, mode_ == Mode::Help ? lines_of(kTopKeys) : detail(shown));
    } else {
      selected = add_table(lines, shown);
    }
    lines.resize(rows - below.size());
    for (const std::string& each : below) lines.push_back(shown.beginning(each, columns));
    screen_.draw(lines, selected);
  }

  void add_page(std::vector<std::string>& lines, const std::vector<std::string>& page) {
    std::vector<std::string> body;
    for (const std::string& line : page) add_wrapped(body, line, screen_.terminal().columns);
    page_end_ = room_after(body.size(), room_);
    scrolled_ = std::min(scrolled_, page_end_);
    std::ranges::copy(std::span(body).subspan(scrolled_), std::back_inserter(lines));
  }

  // Gives the row of the selected tag.
  std::size_t add_table(std::vector<std::string>& lines, const Shown& shown) {
    const TagTable table(shown, recent_.tags, choice_.sort, true);
    lines.push_back(shown.bold(table.heading(kind_)));
    --room_;
    first_ = std::clamp(first_, room_after(selected_ + 1, room_), selected_);
    const std::size_t selected = lines.size() + selected_ - first_;
    const auto end = std::min(first_ + room_, list().size());
    std::ranges::move(table.rows(std::span(list()).subspan(first_, end - first_)),
                      std::back_inserter(lines));
    if (!list().empty()) return selected;
    lines.emplace_back(taken_ == 0            ? "reading ..."
                       : choice_.text.empty() ? "no tag yet"
                                              : "no tag matches");
    return screen_.rows();
  }

  std::vector<std::string> detail(const Shown& shown) {
    const TagKey& opened = *feed_.opened();
    const auto key_of = [](const Tag& tag) { return TagKey(tag.type, tag.name); };
    const auto its = std::ranges::find(recent_.tags, opened, key_of);
    const Tag* const tag = its == recent_.tags.end() ? nullptr : &*its;
    // Only when it is known what is slow: else programs would be asked for all.
    const bool can_capture = !options_.archive && opened.first == TraceType::Transact;
    if (can_capture && !spans_ && tag != nullptr && tag->percentiles[kP99])
      spans_ = std::make_unique<SlowSpans>(options_.hosts, tag->name, *tag->percentiles[kP99]);
    std::vector<std::string> lines = detail_lines(opened, tag, feed_.details(), shown);
    if (spans_) std::ranges::move(spans_->lines(shown), std::back_inserter(lines));
    return lines;
  }

  std::string title(const Shown& shown) const {
    std::string text = is_paused_ ? "PAUSED  " : "";
    text += taken_ == 0 ? "pcp-trace top" : Shown::time(recent_.at);
    for (const std::string& host : recent_.hosts) text += "  " + host;
    text += "  " + Shown::counted(list().size(), "tag");
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

  Screen screen_;
  const TopOptions& options_;
  TagFeed& feed_;
  TagChoice choice_;

  Mode mode_ = Mode::Table;
  Recent recent_;
  std::optional<Recent> busy_;  // the last one of a replay with calls, which it ends on
  std::uint64_t taken_ = 0;
  TablesOf<Tag> tables_;
  std::size_t kind_ = 0;  // of the table
  std::size_t selected_ = 0;
  std::size_t first_ = 0;     // shown
  std::size_t room_ = 0;      // for lines of the body
  std::size_t scrolled_ = 0;  // lines of a page
  std::size_t page_end_ = 0;
  std::string mistake_;
  bool is_paused_ = false;
  std::unique_ptr<SlowSpans> spans_;
};

}  // namespace

Result<void> view_tags(const TopOptions& options, TagFeed& feed, Interruption& interruption) {
  if (::newterm(nullptr, stdout, stdin) == nullptr || ::tigetstr("cup") == nullptr) {
    ::endwin();
    return Error{"this terminal cannot move its cursor; -n N prints tables"};
  }
  View(options, feed).run(interruption);
  return {};
}

}  // namespace pcp::trace::command
