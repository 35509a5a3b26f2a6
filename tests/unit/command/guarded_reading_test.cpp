// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/pcp/guarded_reading.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace pcp::trace::command {
namespace {

int end_by(int signal) {
  std::signal(signal, SIG_DFL);
  std::raise(signal);
  return 0;
}

TEST(Guarded, GivesTheStatusOfItsWork) {
  for (const int status : {0, 1, 7}) EXPECT_EQ(guarded("me", 2, [&] { return status; }), status);
}

TEST(Guarded, SaysWhichArchiveIsDamagedWhereReadingItEndsTheProcess) {
  testing::internal::CaptureStderr();
  const int status = guarded("me", 2, [] {
    EXPECT_FALSE(open_archive("one"));
    EXPECT_FALSE(open_archive("other\u202e"));
    return end_by(SIGSEGV);
  });
  EXPECT_EQ(status, 2);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "pcp-trace me: other\\xe2\\x80\\xae: is damaged: reading it ended with: Segmentation "
            "fault\n");
}

TEST(Guarded, BlamesNoArchiveForItsOwnFault) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(guarded("me", 2, []() -> int { throw std::length_error("too long"); }), 2);
  const auto crash_later = [] {
    EXPECT_FALSE(open_archive("one"));
    (void)ArchiveContext(0);  // is closed
    return end_by(SIGSEGV);
  };
  EXPECT_EQ(guarded("me", 2, crash_later), 2);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "pcp-trace me: internal error: too long\n"
            "pcp-trace me: ended with: Segmentation fault, while no archive was open\n");
}

// PCP's library exits when it gets no memory.
TEST(Guarded, TakesAnExitForNoEndOfTheWork) {
  EXPECT_EQ(guarded("me", 2, []() -> int { std::_Exit(1); }), 2);
}

TEST(Guarded, GivesNoMoreMemoryThanAnArchiveMayNeed) {
  EXPECT_EQ(guarded("me", 2,
                    [] {
                      std::vector<std::unique_ptr<char[]>> all;
                      while (all.size() < 1000) all.emplace_back(new char[64 << 20]);
                      return 0;
                    }),
            2);
}

// Gives the status of `work` in a child that may read an archive, which `archive` names.
int guarded_with_archive(const std::function<void(int descriptor)>& fill,
                         const std::function<int(const std::string& archive)>& work) {
  std::string file = testing::TempDir() + "archive.XXXXXX.0";
  const int descriptor = ::mkstemps(file.data(), 2);
  fill(descriptor);
  ::close(descriptor);
  const int status = guarded("me", 2, [&] { return work(file.substr(0, file.size() - 2)); });
  std::filesystem::remove(file);
  return status;
}

rlim_t seconds_left_to_it() {
  rlimit limits{};
  ::getrlimit(RLIMIT_CPU, &limits);
  return limits.rlim_cur;
}

TEST(Guarded, HasMoreTimeForALargeArchiveButNotForHoles) {
  const auto more = [](const std::string& archive) {
    const rlim_t before = seconds_left_to_it();
    (void)open_archive(archive);
    return seconds_left_to_it() > before ? 1 : 0;
  };
  EXPECT_EQ(guarded_with_archive([](int file) { ::posix_fallocate(file, 0, 64 << 20); }, more), 1);
  EXPECT_EQ(guarded_with_archive([](int file) { (void)::ftruncate(file, off_t{1} << 40); }, more),
            0);
}

TEST(Guarded, KeepsTheUsersSoftLimits) {
  const auto user = [] {
    rlimit limits{};
    ::getrlimit(RLIMIT_CPU, &limits);
    limits.rlim_cur = 30;
    ::setrlimit(RLIMIT_CPU, &limits);
    std::exit(guarded_with_archive([](int file) { ::posix_fallocate(file, 0, 64 << 20); },
                                   [](const std::string& archive) {
                                     if (seconds_left_to_it() != 30) return 1;
                                     (void)open_archive(archive);
                                     return seconds_left_to_it() == 30 ? 0 : 1;
                                   }));
  };
  EXPECT_EXIT(user(), testing::ExitedWithCode(0), "^$");
}

TEST(Guarded, EndsByTheSignalThatIsMeantForIt) {
  EXPECT_EXIT(std::exit(guarded("me", 2, [] { return end_by(SIGTERM); })),
              testing::KilledBySignal(SIGTERM), "^$");
}

}  // namespace
}  // namespace pcp::trace::command
