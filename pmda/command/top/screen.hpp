// SPDX-License-Identifier: LGPL-2.1-or-later
// The whole terminal: lines and keys, by ncurses.
//
// Thread: the main one. Only one at a time, made before other threads.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "base/descriptor.hpp"
#include "base/result.hpp"
#include "command/show/shown.hpp"

namespace pcp::trace::command {

class Screen {
 public:
  // An error says what the terminal lacks.
  static Result<std::unique_ptr<Screen>> open();
  ~Screen();
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  std::size_t rows() const;
  Terminal terminal() const;

  // Gives the next key of ncurses; ERR: none. Resizes and suspends when the terminal has asked for
  // it, so call it often.
  int key();

  // Shows a line, which may have Shown's marks.
  void set_line(std::size_t row, std::string_view text, bool is_reversed = false);
  void show();

 private:
  Screen();

  Terminal terminal_;
  Descriptor errors_;  // standard error, where PCP's library would write over the screen
};

}  // namespace pcp::trace::command
