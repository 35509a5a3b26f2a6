// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/record/registration.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/descriptor.hpp"
#include "base/escape.hpp"
#include "metrics/pmapi.hpp"

namespace pcp::trace::command {

Registration::Registration(std::string_view what, const std::string& archive) {
  const char* const directory = pmGetOptionalConfig("PCP_IMPORTRUN_DIR");
  if (directory == nullptr) return;
  path_ = std::string(directory) + "/pcp-trace";
  std::error_code ignored;
  text_ =
      "pid=" + std::to_string(::getpid()) +
      "\nversion=" PCP_TRACE_VERSION "\nargs=" + printable(what, kMaxShownBytes) +
      "\narchive=" + escaped(std::filesystem::absolute(archive, ignored).string(), stays_in_name) +
      '\n';
  const Descriptor file(
      ::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644));
  if (file) static_cast<void>(write_all(file.get(), text_));
}

Registration::~Registration() {
  std::ifstream file(path_);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  if (!text.empty() && text == text_) ::unlink(path_.c_str());  // else a later recording's
}

}  // namespace pcp::trace::command
