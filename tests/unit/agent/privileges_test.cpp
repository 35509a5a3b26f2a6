// SPDX-License-Identifier: LGPL-2.1-or-later
#include "agent/privileges.hpp"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include <gtest/gtest.h>

namespace pcp::trace::agent {
namespace {

// As long as one exists, this process has another name.
class Renamed {
 public:
  explicit Renamed(const char* name) {
    prctl(PR_GET_NAME, before_);
    prctl(PR_SET_NAME, name);
  }
  ~Renamed() { prctl(PR_SET_NAME, before_); }

 private:
  char before_[16];
};

void note(Privileges& privileges, int context, const char* uid,
          const std::string& pid = std::to_string(getpid())) {
  privileges.note_user(context, uid);
  privileges.note_process(context, pid.c_str());
}

TEST(Privileges, AreForTheGivenUsersOnly) {
  Privileges privileges({0, 999});
  note(privileges, 1, "0");
  note(privileges, 2, "999");
  note(privileges, 3, "1000");
  EXPECT_TRUE(privileges.may_store(1));
  EXPECT_TRUE(privileges.may_store(2));
  EXPECT_FALSE(privileges.may_store(3));
  EXPECT_FALSE(privileges.may_store(4));  // of an unknown user
}

TEST(Privileges, EndWithTheContext) {
  Privileges privileges({0});
  note(privileges, 1, "0");
  privileges.forget(1);
  EXPECT_FALSE(privileges.may_store(1));
  privileges.note_process(1, std::to_string(getpid()).c_str());
  EXPECT_FALSE(privileges.may_store(1));
}

TEST(Privileges, AreNotForWhatIsNoNumber) {
  Privileges privileges({0});
  for (const char* uid : {"", "root", "0x0", "-0", "0 "}) {
    note(privileges, 1, "0");
    privileges.note_user(1, uid);
    EXPECT_FALSE(privileges.may_store(1)) << '"' << uid << '"';
  }
}

TEST(Privileges, AreNotForAProxy) {
  Privileges privileges({0});
  note(privileges, 1, "0");
  for (const char* name : {"pmproxy", "lt-pmproxy"}) {
    const Renamed renamed(name);
    EXPECT_FALSE(privileges.may_store(1)) << name;
  }
  EXPECT_TRUE(privileges.may_store(1));
}

TEST(Privileges, AreNotForAProcessThatCannotBeSeen) {
  Privileges privileges({0});
  privileges.note_user(1, "0");
  EXPECT_FALSE(privileges.may_store(1));
  const pid_t ended = fork();
  if (ended == 0) _exit(0);
  waitpid(ended, nullptr, 0);
  for (const std::string& pid : {std::to_string(ended), std::string("0"), std::string("-1"),
                                 std::string(), std::string("self"), std::string("1/../self")}) {
    note(privileges, 1, "0", pid);
    EXPECT_FALSE(privileges.may_store(1)) << pid;
  }
}

TEST(Privileges, AreToSeeAllSpansOrThoseOfOnesOwnPrograms) {
  Privileges privileges({0});
  note(privileges, 1, "0");
  note(privileges, 2, "1000");
  EXPECT_EQ(privileges.may_see_spans_of(1), Audience{});
  EXPECT_EQ(privileges.may_see_spans_of(2), Audience{1000});
  EXPECT_EQ(privileges.may_see_spans_of(3), std::nullopt);
  const Renamed proxy("pmproxy");
  EXPECT_EQ(privileges.may_see_spans_of(1), std::nullopt);
  EXPECT_EQ(privileges.may_see_spans_of(2), std::nullopt);
}

TEST(Privileges, AreToSeeAllSpansFromElsewhereIfTheAgentIsToldSo) {
  Privileges privileges({0}, true);
  note(privileges, 2, "1000");
  EXPECT_EQ(privileges.may_see_spans_of(2), Audience{1000});
  EXPECT_EQ(privileges.may_see_spans_of(3), Audience{});
  const Renamed proxy("pmproxy");
  EXPECT_EQ(privileges.may_see_spans_of(2), Audience{});
}

}  // namespace
}  // namespace pcp::trace::agent
