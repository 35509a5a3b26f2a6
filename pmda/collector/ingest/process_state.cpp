// SPDX-License-Identifier: LGPL-2.1-or-later
#include "collector/ingest/process_state.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <exception>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/descriptor.hpp"

namespace pcp::trace::agent {

char state_in(const std::string& stat) {
  const Descriptor file(::open(stat.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return 0;
  std::array<char, 256> text{};
  const ssize_t got = ::read(file.get(), text.data(), text.size());
  if (got < 0) return 0;
  // The state follows the name. The name is in parentheses, and may contain some, too.
  const std::string_view line(text.data(), static_cast<std::size_t>(got));
  const std::size_t name_end = line.rfind(") ");
  return name_end + 2 < line.size() ? line[name_end + 2] : '\0';
}

bool has_ended(std::uint32_t pid) {
  errno = 0;
  const char state = state_in("/proc/" + std::to_string(pid) + "/stat");
  if (state != 0) return state == 'Z' || state == 'X';
  return errno == ESRCH || (errno == ENOENT && ::access("/proc/self", F_OK) == 0);
}

bool others_compute() {
  const std::string own = std::to_string(gettid());
  try {
    for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task"))
      if (thread.path().filename() != own && state_in(thread.path() / "stat") == 'R') return true;
  } catch (const std::exception&) {  // no memory, or no /proc
  }
  return false;
}

}  // namespace pcp::trace::agent
