// SPDX-License-Identifier: LGPL-2.1-or-later
// Makes pcp(1) of PCP 7.2 list a recording while it runs: pmdapmimport(1) reads a file about it.
// Usually only root may write that file. It has one name for all recordings, because PCP keeps each
// name for ever; so the last one to begin is listed.
//
// Thread: one.
#pragma once

#include <string>
#include <string_view>

namespace pcp::trace::command {

class Registration {
 public:
  // Without that PCP, or its permission, there is none.
  Registration(std::string_view what, const std::string& archive);
  Registration(const Registration&) = delete;
  Registration& operator=(const Registration&) = delete;
  ~Registration();

 private:
  std::string path_;
  std::string text_;
};

}  // namespace pcp::trace::command
