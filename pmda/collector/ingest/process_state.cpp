// SPDX-License-Identifier: LGPL-2.1-or-later
#include "collector/ingest/process_state.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>
#include <string_view>

#include "collector/engine/descriptor.hpp"

namespace pcp::trace::agent {

bool has_ended(std::uint32_t pid) {
  const std::string path = "/proc/" + std::to_string(pid) + "/stat";
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return errno == ENOENT && ::access("/proc/self", F_OK) == 0;
  std::array<char, 256> text{};
  const ssize_t got = ::read(file.get(), text.data(), text.size());
  if (got < 0) return errno == ESRCH;
  // The state comes after the name, which is in parentheses and may have others in it.
  const std::string_view line(text.data(), static_cast<std::size_t>(got));
  const std::size_t name_end = line.rfind(") ");
  if (name_end == std::string_view::npos) return false;
  const char state = line.substr(name_end + 2).front();
  return state == 'Z' || state == 'X';
}

}  // namespace pcp::trace::agent
