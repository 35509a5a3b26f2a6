// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/record/child.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/clock.hpp"

namespace pcp::trace::command {
namespace {

using namespace std::chrono_literals;

// A wait of this length fails by the test's time-out.
constexpr auto kForEver = 1h;

// Gives the status and the ending signal of a child that runs these words.
std::pair<int, int> end_of(const std::vector<std::string>& words,
                           const EnvironmentChanges& changes = {}) {
  Child child;
  EXPECT_EQ(child.start(words, changes), 0);
  EXPECT_TRUE(child.wait_until(steady_now() + kForEver));
  return {child.exit_status(), child.ending_signal()};
}

int status_of_script(const std::string& script, const EnvironmentChanges& changes = {}) {
  return end_of({"sh", "-c", script}, changes).first;
}

TEST(Child, GivesItsStatusOrItsSignalAsAShellDoes) {
  EXPECT_EQ(end_of({"true"}), std::pair(0, 0));
  EXPECT_EQ(end_of({"sh", "-c", "exit 7"}), std::pair(7, 0));
  EXPECT_EQ(end_of({"sh", "-c", "exit 137"}), std::pair(137, 0));  // no signal has ended it
  EXPECT_EQ(end_of({"sh", "-c", "kill -KILL $$"}), std::pair(128 + SIGKILL, SIGKILL));
}

TEST(Child, HasOurEnvironmentButForTheChanges) {
  ::setenv("CHILD_KEPT", "kept", 1);
  ::setenv("CHILD_GONE", "here", 1);
  ::setenv("CHILD_OTHER", "old", 1);
  EXPECT_EQ(
      status_of_script(R"(test "$CHILD_KEPT $CHILD_GONE $CHILD_OTHER $CHILD_NEW" = "kept  new =")",
                       {{"CHILD_GONE", {}}, {"CHILD_OTHER", "new"}, {"CHILD_NEW", "="}}),
      0);
}

TEST(Child, ThatCannotBeExecutedSaysWhy) {
  EXPECT_EQ(Child().start({"there-is-no-such-program"}, {}), ENOENT);
  EXPECT_EQ(Child::status_of_failed_start(ENOENT), 127);
  EXPECT_EQ(Child().start({"/etc/passwd"}, {}), EACCES);
  EXPECT_EQ(Child::status_of_failed_start(EACCES), 126);
  errno = 0;
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);  // no zombie
  EXPECT_EQ(errno, ECHILD);
}

TEST(Child, IsWaitedForOnlySoLong) {
  Child child;
  ASSERT_EQ(child.start({"sleep", "3600"}, {}), 0);
  EXPECT_FALSE(child.wait_until(steady_now() + 1ms));
  EXPECT_FALSE(child.wait_until(steady_now() - 1s));
  ::kill(::getpid(), SIGTERM);
  EXPECT_TRUE(child.wait_until(steady_now() + kForEver));
}

TEST(Child, GetsTheSignalsThatSomebodySendsUs) {
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2}) {
    std::signal(signal, SIG_DFL);  // nohup ignores SIGHUP, and so would the child
    Child child;
    ASSERT_EQ(child.start({"sleep", "3600"}, {}), 0);
    ::kill(::getpid(), signal);
    ASSERT_TRUE(child.wait_until(steady_now() + kForEver));
    EXPECT_EQ(child.exit_status(), 128 + signal);
  }
}

TEST(Child, BeginsWithTheSignalsAsTheyWere) {
  std::signal(SIGINT, SIG_IGN);
  std::signal(SIGCHLD, SIG_IGN);
  EXPECT_EQ(status_of_script("kill -INT $$; exit 3"), 3);
  std::signal(SIGINT, SIG_DFL);
}

// The child did not exist yet, so the signals could not reach it.
TEST(Child, GetsTheSignalsThatItsGroupWasSentBeforeItCame) {
  const auto live = [] {
    ::setpgid(0, 0);
    Child child;
    ::kill(0, SIGTERM);
    child.start({"sleep", "3600"}, {});
    child.wait_until(steady_now() + kForEver);
    ::_exit(child.exit_status());
  };
  EXPECT_EXIT(live(), testing::ExitedWithCode(128 + SIGTERM), "");
}

TEST(Child, HasNoDescriptorOfOurs) {
  const auto count = [](const char* redirection) {
    return status_of_script(std::string("exit $(ls /proc/self/fd | wc -l) ") + redirection);
  };
  const int before = count("");
  Child another;  // has a descriptor open
  EXPECT_EQ(count(""), before);
}

}  // namespace
}  // namespace pcp::trace::command
