// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/top/screen.hpp"

#define NCURSES_NOMACROS  // such as move()
#include <curses.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <charconv>
#include <csignal>
#include <string>

namespace pcp::trace::command {

namespace {

// The handlers of ncurses run only in key(): other threads inherit that these are blocked.
void let_signals_come(bool do_come) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGWINCH);
  sigaddset(&signals, SIGTSTP);
  pthread_sigmask(do_come ? SIG_UNBLOCK : SIG_BLOCK, &signals, nullptr);
}

// The attribute of an escape sequence of Shown.
attr_t attribute_of(int code) {
  if (code == 1) return A_BOLD;
  if (code == 2) return A_DIM;
  return static_cast<attr_t>(COLOR_PAIR(code == 31 ? 1 : code == 32 ? 2 : 0));
}

}  // namespace

Result<std::unique_ptr<Screen>> Screen::open() {
  if (::newterm(nullptr, stdout, stdin) == nullptr || ::tigetstr("cup") == nullptr) {
    ::endwin();
    return Error{"this terminal cannot move its cursor; -n N prints tables"};
  }
  return std::unique_ptr<Screen>(new Screen);
}

Screen::Screen() : terminal_(terminal_of(STDOUT_FILENO)) {
  if (const Descriptor nowhere(::open("/dev/null", O_WRONLY | O_CLOEXEC));
      nowhere && ::isatty(STDERR_FILENO) == 1) {
    errors_ = Descriptor(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3));
    ::dup2(nowhere.get(), STDERR_FILENO);
  }
  let_signals_come(false);
  ::cbreak();
  ::noecho();
  ::nodelay(stdscr, TRUE);
  ::keypad(stdscr, TRUE);
  ::set_escdelay(25);
  ::curs_set(0);
  if (!terminal_.has_colors || !::has_colors()) return;
  ::start_color();
  ::use_default_colors();
  ::init_pair(1, COLOR_RED, -1);
  ::init_pair(2, COLOR_GREEN, -1);
}

Screen::~Screen() {
  ::endwin();
  let_signals_come(true);
  if (errors_) ::dup2(errors_.get(), STDERR_FILENO);
}

std::size_t Screen::rows() const { return static_cast<std::size_t>(LINES); }

Terminal Screen::terminal() const {
  Terminal now = terminal_;
  now.columns = static_cast<std::size_t>(COLS);
  return now;
}

int Screen::key() {
  let_signals_come(true);
  const int key = ::getch();
  let_signals_come(false);
  return key;
}

void Screen::set_line(std::size_t row, std::string_view text, bool is_reversed) {
  const attr_t usual = is_reversed ? A_REVERSE : A_NORMAL;
  ::move(static_cast<int>(row), 0);
  ::attrset(static_cast<int>(usual));
  std::size_t used = 0;
  while (!text.empty()) {
    const std::size_t length = std::min(text.find("\033["), text.size());
    ::addnstr(text.data(), static_cast<int>(length));
    used += columns_of(text.substr(0, length));
    text.remove_prefix(length);
    if (text.empty()) break;
    int code = 0;
    const auto end = std::from_chars(text.data() + 2, text.data() + text.size(), code).ptr;
    ::attrset(static_cast<int>(usual | attribute_of(code)));
    text.remove_prefix(static_cast<std::size_t>(end + 1 - text.data()));
  }
  const std::string blanks(room_after(static_cast<std::size_t>(COLS), used), ' ');
  ::addstr(blanks.c_str());
}

void Screen::show() { ::refresh(); }

}  // namespace pcp::trace::command
