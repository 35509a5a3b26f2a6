// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/pcp/guarded_reading.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <new>
#include <utility>

#include "base/descriptor.hpp"
#include "command/pcp/pcp_values.hpp"
#include "command/words.hpp"

namespace pcp::trace::command {

namespace {

namespace fs = std::filesystem;

constexpr rlim_t kSeconds = 60;
constexpr rlim_t kBytesInASecond = 1 << 20;
constexpr rlim_t kBytes = rlim_t{2} << 30;
constexpr rlim_t kBytesForEach = 32;  // of address space, per byte of the archive

// In memory shared by both processes.
struct Progress {
  bool is_done = false;
  std::array<char, PATH_MAX> archive{};
};
Progress* progress = nullptr;

Progress* shared_progress() {
  void* const memory =
      ::mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : new (memory) Progress;
}

rlim_t address_space() {
  rlim_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE));
}

// Limits the child. The user's soft limit becomes the hard limit, which raise() does not exceed.
void limit(__rlimit_resource resource, rlim_t most) {
  rlimit limits{};
  ::getrlimit(resource, &limits);
  limits.rlim_max = limits.rlim_cur;
  limits.rlim_cur = std::min(most, limits.rlim_max);
  ::setrlimit(resource, &limits);
}

void raise(__rlimit_resource resource, rlim_t more) {
  rlimit limits{};
  ::getrlimit(resource, &limits);
  if (limits.rlim_cur == RLIM_INFINITY) return;
  limits.rlim_cur = std::min(limits.rlim_cur + more, limits.rlim_max);
  ::setrlimit(resource, &limits);
}

// Refuses other file types: PCP's library would wait at a pipe, for example.
Result<rlim_t> bytes_of(const fs::path& archive) {
  const std::string beginning = archive.filename().string() + ".";
  const fs::path directory = archive.has_parent_path() ? archive.parent_path() : ".";
  rlim_t bytes = 0;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory, ignored)) {
    if (!entry.path().filename().string().starts_with(beginning)) continue;
    if (entry.is_other(ignored)) return Error{entry.path().string() + ": not a file"};
    struct stat file {};
    // Not the size: a file with holes would raise the limits without end.
    if (::stat(entry.path().c_str(), &file) == 0)
      bytes += static_cast<rlim_t>(file.st_blocks) * 512;
  }
  return bytes;
}

// How PCP's library opens an archive: for this library a comma ends a name.
struct NameForPcp {
  std::string name;
  Descriptor folder;  // open as long as the name is used
};

Result<NameForPcp> name_for_pcp(const fs::path& archive) {
  const std::string file = archive.filename();
  if (archive.native().find(',') == std::string::npos) return NameForPcp{archive, {}};
  if (file.find(',') != std::string::npos)
    return Error{archive.native() +
                 ": PCP's library reads no archive with a comma in its name: rename its files"};
  Descriptor folder(::open(archive.parent_path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!folder) return Error{archive.native() + ": " + std::strerror(errno)};
  // Not /proc/self: the library may start programs that unpack archives.
  std::string name =
      "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(folder.get()) + "/" + file;
  return NameForPcp{std::move(name), std::move(folder)};
}

[[noreturn]] void work_as_child(pid_t parent, const char* word, int failed,
                                const std::function<int()>& work) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(EXIT_FAILURE);
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_CPU, kSeconds);
  limit(RLIMIT_AS, address_space() + kBytes);
  int status = EXIT_FAILURE;
  try {
    status = work();
  } catch (const std::bad_alloc&) {
    ::_exit(EXIT_FAILURE);
  } catch (const std::exception& fault) {
    complain_of_fault(word, fault);
    status = failed;
  }
  progress->is_done = true;
  std::exit(status);
}

bool is_of_a_failure(int signal) {
  constexpr std::array kOfFailures{SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGKILL, SIGXCPU};
  return std::find(kOfFailures.begin(), kOfFailures.end(), signal) != kOfFailures.end();
}

std::string how(int wait_status) {
  if (!WIFSIGNALED(wait_status)) return "takes too much memory";
  if (WTERMSIG(wait_status) == SIGXCPU) return "does not end";
  return std::string("ended with: ") + ::strsignal(WTERMSIG(wait_status));
}

}  // namespace

int guarded(const char* word, int failed, const std::function<int()>& work) {
  progress = shared_progress();
  const pid_t parent = ::getpid();
  const pid_t child = progress == nullptr ? -1 : ::fork();
  if (child == 0) work_as_child(parent, word, failed, work);
  if (child < 0) return work();
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  if (WIFEXITED(status) && progress->is_done) return WEXITSTATUS(status);
  if (WIFSIGNALED(status) && !is_of_a_failure(WTERMSIG(status))) {
    std::signal(WTERMSIG(status), SIG_DFL);
    ::raise(WTERMSIG(status));
  }
  const std::string archive = progress->archive.data();
  complain(word, archive.empty() ? how(status) + ", while no archive was open"
                                 : archive + ": is damaged: reading it " + how(status));
  return failed;
}

ArchiveContext::~ArchiveContext() {
  if (number_ < 0) return;
  pmDestroyContext(number_);
  if (progress != nullptr) progress->archive.fill(0);
}

Result<ArchiveContext> open_archive(const std::string& path) {
  const Result<rlim_t> bytes = bytes_of(path);
  if (!bytes) return bytes.error();
  if (progress != nullptr) {
    progress->archive.fill(0);
    path.copy(progress->archive.data(), progress->archive.size() - 1);
    raise(RLIMIT_CPU, *bytes / kBytesInASecond);
    raise(RLIMIT_AS, kBytesForEach * *bytes);
  }
  Result<NameForPcp> as = name_for_pcp(path);
  if (!as) return as.error();
  const int number = pmNewContext(PM_CONTEXT_ARCHIVE, as->name.c_str());
  if (number < 0) return pcp_error(path + ": not a readable archive of PCP", number);
  return ArchiveContext(number, std::move(as->folder));
}

}  // namespace pcp::trace::command
