// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/record/private_directory.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/error_of.hpp"
#include "support/scratch_directory.hpp"

namespace pcp::trace::command {
namespace {

namespace fs = std::filesystem;

class PrivateDirectories : public testing::Test {
 protected:
  PrivateDirectory create() const {
    Result<PrivateDirectory> made = PrivateDirectory::create(parent_);
    if (!made) throw std::runtime_error(made.error().message);
    return *std::move(made);
  }

  // Makes the directory that a killed process leaves.
  fs::path leave(const std::string& name) const {
    const fs::path path = parent_ / name;
    fs::create_directory(path);
    fs::permissions(path, fs::perms::owner_all);
    std::ofstream(path / "socket");
    std::ofstream(path / "socket-0123456789abcdef");  // not yet, or already hidden
    return path;
  }

  const ScratchDirectory scratch_;
  const fs::path parent_ = scratch_.path();
};

TEST_F(PrivateDirectories, AreThisUsersAloneAndOthersMayPassOnlyRootsOnceTheSocketIsHidden) {
  const PrivateDirectory made = create();
  const auto mode = [&] {
    return static_cast<unsigned>(fs::status(fs::path(made.socket()).parent_path()).permissions());
  };
  EXPECT_EQ(mode(), 0700U);
  std::ofstream(made.bound()) << "";
  ASSERT_TRUE(made.hide_socket());
  EXPECT_EQ(mode(), ::geteuid() == 0 ? 0711U : 0700U);
}

TEST_F(PrivateDirectories, GiveTheSocketANameThatNobodyGuesses) {
  EXPECT_NE(fs::path(create().socket()).filename(), fs::path(create().socket()).filename());
}

TEST_F(PrivateDirectories, GoWithTheirOwner) {
  std::optional<PrivateDirectory> made = create();
  std::ofstream(made->bound()) << "";
  ASSERT_TRUE(made->hide_socket());
  EXPECT_TRUE(fs::exists(made->socket()));
  made.reset();
  EXPECT_TRUE(fs::is_empty(parent_));
}

TEST_F(PrivateDirectories, OfTheDeadAreRemovedAndNotThoseOfTheLiving) {
  const fs::path dead = leave("pcp-trace-abcdef");
  const fs::path dead_one_of_root = leave("pcp-trace-root..");
  fs::permissions(dead_one_of_root, fs::perms(0711));
  const PrivateDirectory first = create();
  std::ofstream(first.socket()) << "";
  const PrivateDirectory second = create();
  EXPECT_FALSE(fs::exists(dead));
  EXPECT_FALSE(fs::exists(dead_one_of_root));
  EXPECT_TRUE(fs::exists(first.socket()));
}

TEST_F(PrivateDirectories, ThatAreNotOursStay) {
  const fs::path other_name = leave("pcp-trace-abcdefg");
  const fs::path with_more = leave("pcp-trace-more..");
  std::ofstream(with_more / "more");
  const fs::path open_to_all = leave("pcp-trace-public");
  fs::permissions(open_to_all, fs::perms::all);
  const fs::path linked = leave("elsewhere");
  fs::create_directory_symlink(linked, parent_ / "pcp-trace-linked");
  std::vector<fs::path> expected{other_name / "socket", with_more / "more", open_to_all / "socket",
                                 linked / "socket", parent_ / "pcp-trace-linked"};
  if (::geteuid() == 0) {
    const fs::path of_another = leave("pcp-trace-others");
    ASSERT_EQ(::chown(of_another.c_str(), 65534, 65534), 0);
    expected.push_back(of_another / "socket");
  }
  create();
  for (const fs::path& each : expected) EXPECT_TRUE(fs::exists(each)) << each;
}

TEST_F(PrivateDirectories, AreWhereNoOtherUserCanMakeThemAgain) {
  const auto made_in = [&](const fs::path& runtime_directory) {
    ::setenv("XDG_RUNTIME_DIR", runtime_directory.c_str(), 1);
    const Result<PrivateDirectory> made = PrivateDirectory::create();
    ::unsetenv("XDG_RUNTIME_DIR");
    return fs::path(made->socket()).parent_path().parent_path();
  };
  if (::geteuid() == 0) {
    // Programs of other users could not reach a socket in parent_.
    const auto run = fs::status("/run").permissions();
    const bool is_roots =
        (run & (fs::perms::group_write | fs::perms::others_write)) == fs::perms::none &&
        ::access("/run", W_OK) == 0;
    EXPECT_EQ(made_in(parent_), is_roots ? "/run" : "/tmp");
    return;
  }
  EXPECT_EQ(made_in(parent_), parent_);
  EXPECT_EQ(made_in(parent_ / std::string(90, 'x')), "/tmp");  // too long for a socket
  fs::permissions(parent_, fs::perms::all);
  EXPECT_EQ(made_in(parent_), "/tmp");
}

TEST_F(PrivateDirectories, AreNotMadeWhereThereIsNoDirectory) {
  EXPECT_TRUE(error_of(PrivateDirectory::create(parent_ / "nowhere"))
                  .starts_with("cannot make a directory in "));
}

}  // namespace
}  // namespace pcp::trace::command
