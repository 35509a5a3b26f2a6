// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/model/guarded_reading.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
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
    EXPECT_FALSE(open_archive("other"));
    return end_by(SIGSEGV);
  });
  EXPECT_EQ(status, 2);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "me: other: is damaged: reading it ended with: Segmentation fault\n");
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

TEST(Guarded, KeepsTheUsersSoftLimits) {
  const std::string archive = testing::TempDir() + "large." + std::to_string(::getpid());
  std::ofstream(archive + ".0").close();
  std::filesystem::resize_file(archive + ".0", std::uintmax_t{1} << 30);
  const auto soft_limit = [] {
    rlimit limits{};
    ::getrlimit(RLIMIT_CPU, &limits);
    return limits.rlim_cur;
  };
  const auto user = [&] {
    rlimit limits{};
    ::getrlimit(RLIMIT_CPU, &limits);
    limits.rlim_cur = 30;
    ::setrlimit(RLIMIT_CPU, &limits);
    std::exit(guarded("me", 2, [&] {
      if (soft_limit() != 30) return 1;
      (void)open_archive(archive);  // so large that it would take more
      return soft_limit() == 30 ? 0 : 1;
    }));
  };
  EXPECT_EXIT(user(), testing::ExitedWithCode(0), "^$");
  std::filesystem::remove(archive + ".0");
}

TEST(Guarded, EndsByTheSignalThatIsMeantForIt) {
  EXPECT_EXIT(std::exit(guarded("me", 2, [] { return end_by(SIGTERM); })),
              testing::KilledBySignal(SIGTERM), "^$");
}

}  // namespace
}  // namespace pcp::trace::command
