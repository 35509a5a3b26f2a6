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
#include <deque>
#include <iterator>
#include <span>
#include <utility>

#include "base/descriptor.hpp"
#include "command/run/trace_assembly.hpp"
#include "command/show/waterfall.hpp"
#include "command/spans/span_feed.hpp"
#include "command/spans/watch.hpp"
#include "wire/dimensions.hpp"

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

  Shown shown() const {
    Terminal now = terminal_;
    now.columns = static_cast<std::size_t>(COLS);
    return Shown(now);
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

// The slow transactions of a tag, captured as long as this exists.
class SlowSpans {
 public:
  SlowSpans(const std::vector<std::string>& hosts, const std::string& tag, double slower_s)
      : hosts_(hosts), tag_(tag), filter_(filter_for(tag, slower_s)) {}

  // Takes the news. Gives lines.
  std::vector<std::string> lines(const Shown& shown) {
    constexpr std::size_t kMostTraces = 5;
    constexpr std::size_t kMostSpansOfATrace = 10;
    const Instant now = steady_now();
    for (HostNews& news : feed_.take()) {
      if (!news.told.empty()) told_.push_back("  " + shown_host(hosts_[news.host]) + news.told);
      for (SpanEvent& span : news.spans) assembly_.add(std::move(span), now);
    }
    for (SpanTrace& trace : assembly_.take_finished(now))
      if (std::ranges::find(trace.spans, tag_, &SpanEvent::tag) != trace.spans.end())
        traces_.push_front(std::move(trace));
    traces_.resize(std::min(traces_.size(), kMostTraces));
    std::vector<std::string> lines{
        shown.bold("Slow ones: capturing " +
                   shown.name(wire::text_of(filter_), room_after(shown.terminal().columns, 22)))};
    for (const std::string& each : told_) lines.push_back(shown.beginning(each, each.npos));
    if (traces_.empty() && told_.empty()) lines.emplace_back("  none yet");
    for (const SpanTrace& trace : traces_)
      std::ranges::move(lines_of(waterfall(trace, shown, kMostSpansOfATrace)),
                        std::back_inserter(lines));
    return lines;
  }

 private:
  static wire::CaptureFilter filter_for(const std::string& tag, double slower_s) {
    wire::CaptureFilter filter;
    // Labels that come at the end are no part of what programs capture.
    filter.tags.push_back(Glob::exactly(bare_name(tag)));
    // Whole microseconds are easier to read.
    filter.slower_ns = std::clamp<std::uint64_t>(static_cast<std::uint64_t>(slower_s * 1e6) * 1000,
                                                 1000, wire::kMaxSlowerNs);
    filter.limit = 100;
    return filter;
  }

  const std::vector<std::string>& hosts_;
  const std::string tag_;
  const wire::CaptureFilter filter_;
  SpanFeed feed_{hosts_, wire::text_of(filter_)};
  TraceAssembly assembly_{limits_for(filter_)};
  std::deque<SpanTrace> traces_;  // the latest first
  std::vector<std::string> told_;
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
    } while (!interruption.comes_before(feed_.due(), {STDIN_FILENO, feed_.descriptor()}));
  }

 private:
  enum class Mode { Table, Prompt, Detail, Help };

  const TablesOf<Tag>::value_type& list() const { return tables_[kind_]; }

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

  // The tables have pointers to tags. One without any gives way to the next one.
  void choose() {
    tables_ = chosen_tags(recent_.tags, choice_);
    for (std::size_t i = 0; i < tables_.size() && list().empty(); ++i) next_table();
    selected_ = std::min(selected_, room_after(list().size(), 1));
  }

  void next_table() { kind_ = (kind_ + 1) % tables_.size(); }

  // False at the end.
  bool take_key(int key) {
    const bool is_enter = key == '\n' || key == '\r' || key == KEY_ENTER;
    if (mode_ == Mode::Prompt) {
      take_prompt_key(key, is_enter);
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
    if (!is_table) {
      if (key == 'q' || key == kEscape) show_page(Mode::Table);
      return true;
    }
    if (key == '/') mode_ = Mode::Prompt;
    if (key == '<' || key == '>') sort_by_neighbour(key == '>' ? 1 : ~std::size_t{0});
    if (key == '\t') {
      next_table();
      selected_ = 0;
      choose();
    }
    if (is_enter && !list().empty()) {
      is_paused_ = false;  // the page has more to read
      show_page(Mode::Detail, TagKey{list()[selected_]->type, list()[selected_]->name});
    }
    return key != 'q';
  }

  void take_prompt_key(int key, bool is_enter) {
    constexpr int kRubout = 127;
    std::string pattern = choice_.text;
    if (key == kEscape) pattern.clear();
    if (key == kEscape || (is_enter && mistake_.empty())) mode_ = Mode::Table;
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
    const Shown shown = screen_.shown();
    const std::size_t rows = screen_.rows();
    const std::size_t columns = shown.terminal().columns;
    if (rows < 5 || columns < 20)
      return screen_.draw({"The terminal needs 20 columns and 5 lines."}, rows);
    std::vector<std::string> lines{shown.beginning(title(), columns)};
    if (rows >= kRowsForTimes && taken_ > 0)
      lines.push_back(shown.faint(shown.beginning(covered_time(recent_, shown), columns)));
    std::vector<std::string> below = feed_.troubles();
    below.resize(std::min(below.size(), rows / 4));
    below.push_back(last_line());
    room_ = rows - lines.size() - below.size();
    std::size_t selected = rows;
    if (mode_ == Mode::Help || mode_ == Mode::Detail)
      add_page(lines, mode_ == Mode::Help ? lines_of(kTopKeys) : detail(shown), columns);
    else
      selected = add_table(lines, shown);
    lines.resize(rows - below.size());
    for (const std::string& each : below) lines.push_back(shown.beginning(each, columns));
    screen_.draw(lines, selected);
  }

  void add_page(std::vector<std::string>& lines, const std::vector<std::string>& page,
                std::size_t columns) {
    std::vector<std::string> body;
    for (const std::string& line : page) add_wrapped(body, line, columns);
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
    const auto shown_tags = std::span(list()).subspan(first_);
    std::ranges::move(table.rows(shown_tags.first(std::min(room_, shown_tags.size()))),
                      std::back_inserter(lines));
    if (!list().empty()) return selected;
    const std::string why = shown.beginning(no_match(recent_.tags, choice_), std::string::npos);
    add_wrapped(lines,
                taken_ == 0   ? "reading ..."
                : why.empty() ? "no tag yet"
                              : why,
                shown.terminal().columns);
    return screen_.rows();
  }

  std::vector<std::string> detail(const Shown& shown) {
    const TagKey& opened = *feed_.opened();
    const auto its = std::ranges::find(recent_.tags, opened,
                                       [](const Tag& tag) { return TagKey(tag.type, tag.name); });
    const Tag* const tag = its == recent_.tags.end() ? nullptr : &*its;
    // Only when it is known what is slow: else programs would be asked for all.
    const bool can_capture = !options_.archive && opened.first == TraceType::Transact;
    if (can_capture && !spans_ && tag != nullptr && tag->percentiles[kP99])
      spans_.emplace(options_.hosts, tag->name, *tag->percentiles[kP99]);
    std::vector<std::string> lines = detail_lines(opened, tag, feed_.details(), shown);
    if (spans_) std::ranges::move(spans_->lines(shown), std::back_inserter(lines));
    return lines;
  }

  std::string title() const {
    std::string text = is_paused_ ? "PAUSED  " : "";
    text += taken_ == 0 ? "pcp-trace top" : Shown::time(recent_.at);
    for (const std::string& host : recent_.hosts) text += "  " + host;
    text += "  " + Shown::counted(list().size(), "tag");
    if (!choice_.text.empty()) text += " of \"" + choice_.text + "\"";
    text += ", by " + std::string(row_of(choice_.sort).summary.sort);
    return text + (options_.archive && feed_.is_over() ? ", end of the archive" : "");
  }

  std::string last_line() const {
    if (mode_ == Mode::Prompt)
      return "/" + choice_.text + "_" + (mistake_.empty() ? "" : "  " + mistake_);
    if (mode_ != Mode::Table) return "q back  Up Down scroll  Space pause";
    return "q quit  ? help  / filter  < > sort  Enter open  Tab tables  Space pause";
  }

  static constexpr int kEscape = 27;
  static constexpr std::size_t kRowsForTimes = 8;  // with fewer, the line about times is left out

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
  std::optional<SlowSpans> spans_;
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
