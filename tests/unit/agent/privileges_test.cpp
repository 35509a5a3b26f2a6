#include "agent/privileges.hpp"

#include <gtest/gtest.h>

namespace pcp::trace::agent {

namespace {

TEST(Privileges, AreForTheGivenUsersOnly) {
  Privileges privileges({0, 999});
  privileges.note_user(1, "0");
  privileges.note_user(2, "999");
  privileges.note_user(3, "1000");
  EXPECT_TRUE(privileges.may_store(1));
  EXPECT_TRUE(privileges.may_store(2));
  EXPECT_FALSE(privileges.may_store(3));
}

TEST(Privileges, AreNotForContextsOfUnknownUsers) {
  const Privileges privileges({0});
  EXPECT_FALSE(privileges.may_store(1));
}

TEST(Privileges, EndWithTheContext) {
  Privileges privileges({0});
  privileges.note_user(1, "0");
  privileges.forget(1);
  EXPECT_FALSE(privileges.may_store(1));
}

TEST(Privileges, AreNotForWhatIsNoNumber) {
  Privileges privileges({0});
  for (const char* uid : {"", "root", "0x0", "-0", "0 "}) {
    privileges.note_user(1, "0");
    privileges.note_user(1, uid);
    EXPECT_FALSE(privileges.may_store(1)) << '"' << uid << '"';
  }
}

}  // namespace

}  // namespace pcp::trace::agent
