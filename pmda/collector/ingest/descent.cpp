// SPDX-License-Identifier: LGPL-2.1-or-later
#include "collector/ingest/descent.hpp"

#include <unistd.h>

#include <fstream>
#include <optional>
#include <string>

namespace pcp::trace::agent {

namespace {

// Longer than any chain of parents. An ancestor that ends meanwhile also costs a step.
constexpr int kMostSteps = 1000;

struct Status {
  std::uint32_t parent = 0;
  std::uint32_t uid = 0;  // the effective one, as in a socket's peer credentials
};

std::optional<Status> status_of(std::uint32_t pid) {
  Status status;
  std::uint32_t real_uid = 0;
  std::ifstream lines("/proc/" + std::to_string(pid) + "/status");
  for (std::string key; lines >> key; std::getline(lines, key)) {
    if (key == "PPid:") lines >> status.parent;
    if (key == "Uid:" && lines >> real_uid >> status.uid) return status;
  }
  return {};
}

}  // namespace

bool is_descendant(std::uint32_t pid, std::uint32_t uid) {
  const std::optional<Status> own = status_of(pid);
  // The pid of an ended peer may belong to another process by now.
  if (!own || own->uid != uid) return false;
  const auto us = static_cast<std::uint32_t>(::getpid());
  std::uint32_t next = own->parent;
  for (int step = 0; step < kMostSteps && next > 0; ++step) {
    if (next == us) return true;
    const std::optional<Status> status = status_of(next);
    const std::optional<Status> again = status ? status : status_of(pid);
    if (!again) return false;
    next = again->parent;
  }
  return false;
}

}  // namespace pcp::trace::agent
