// SPDX-License-Identifier: LGPL-2.1-or-later
#include "collector/ingest/process_state.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <exception>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>

#include "base/descriptor.hpp"

namespace pcp::trace::agent {

namespace {

// Longer than any chain of parents. An ancestor that ends meanwhile also costs a step.
constexpr int kMostSteps = 1000;

struct ProcStatus {
  std::uint32_t parent = 0;
  std::uint32_t uid = 0;  // the effective one, as in a socket's peer credentials
};

std::optional<ProcStatus> status_of(std::uint32_t pid) {
  ProcStatus status;
  std::uint32_t real_uid = 0;
  std::ifstream lines("/proc/" + std::to_string(pid) + "/status");
  for (std::string key; lines >> key; std::getline(lines, key)) {
    if (key == "PPid:") lines >> status.parent;
    if (key == "Uid:" && lines >> real_uid >> status.uid) return status;
  }
  return {};
}

}  // namespace

char state_in(const std::string& stat) {
  const Descriptor file(::open(stat.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return 0;
  std::array<char, 256> text{};
  const ssize_t got = ::read(file.get(), text.data(), text.size());
  if (got < 0) return 0;
  // The state follows the name. The name is in parentheses, and may contain parentheses.
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

bool is_another_thread_busy() {
  const std::string own = std::to_string(gettid());
  try {
    for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task"))
      if (thread.path().filename() != own && state_in(thread.path() / "stat") == 'R') return true;
  } catch (const std::exception&) {  // no memory, or no /proc
  }
  return false;
}

std::optional<bool> is_descendant(std::uint32_t pid, std::uint32_t uid) {
  if (pid == 0) return false;  // in no pid namespace that we see, as all our descendants are
  const std::optional<ProcStatus> own = status_of(pid);
  // The pid of an ended peer may belong to another process by now.
  if (!own || own->uid != uid) return {};
  const auto us = static_cast<std::uint32_t>(::getpid());
  std::uint32_t next = own->parent;
  for (int step = 0; step < kMostSteps && next > 0; ++step) {
    if (next == us) return true;
    const std::optional<ProcStatus> status = status_of(next);
    const std::optional<ProcStatus> again = status ? status : status_of(pid);
    if (!again) return {};
    next = again->parent;
  }
  return false;
}

}  // namespace pcp::trace::agent
