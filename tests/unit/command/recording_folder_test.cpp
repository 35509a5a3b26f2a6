// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/pcp/recording_folder.hpp"

#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "support/error_of.hpp"
#include "support/scratch_directory.hpp"
#include "unit/command/text.hpp"

namespace pcp::trace::command {
namespace {

// Each test has a directory of its own, which is the current one meanwhile.
class Folder : public testing::Test {
 protected:
  Folder() { std::filesystem::current_path(directory_); }
  ~Folder() override { std::filesystem::current_path(before_); }
  static void put(const std::string& path) { std::ofstream(path) << "x"; }

  const std::filesystem::path before_ = std::filesystem::current_path();
  const ScratchDirectory scratch_;
  const std::filesystem::path directory_ = scratch_.path();
};

constexpr Stamp kWhen{1'800'000'000, 0};

TEST_F(Folder, IsNamedAfterWhatIsRecordedAndWhen) {
  const auto folder = RecordingFolder::create("app", "", kWhen);
  ASSERT_TRUE(folder);
  EXPECT_TRUE(begins(folder->path(), "app-20270115-"));
  EXPECT_TRUE(folder->path().ends_with("00.trace")) << folder->path();
  EXPECT_TRUE(std::filesystem::is_directory(folder->path()));
  EXPECT_EQ(folder->archive(), folder->path() + "/trace");
  const auto of_rank = RecordingFolder::create(std::string(300, 'x'), "3", kWhen);
  ASSERT_TRUE(of_rank);
  EXPECT_TRUE(has(of_rank->path(), "x-rank3-20270115-"));
}

TEST_F(Folder, TwoOfTheSameSecondHaveTheirOwn) {
  const auto first = RecordingFolder::create("app", "", kWhen);
  const auto second = RecordingFolder::create("app", "", kWhen);
  ASSERT_TRUE(first && second);
  EXPECT_NE(first->path(), second->path());
}

TEST_F(Folder, HasAPlainNameWhateverIsRecorded) {
  EXPECT_EQ(as_file_name("a b/c\n\xc3\xa4;"), "a_b_c____");
  EXPECT_EQ(as_file_name("-rf"), "_-rf");
  EXPECT_EQ(as_file_name(".."), "_..");
  EXPECT_EQ(as_file_name(""), "_");
  EXPECT_EQ(as_file_name(std::string(300, 'x')).size(), 64U);
}

TEST_F(Folder, ThatIsGivenMayBeThereButNotHaveARecording) {
  std::filesystem::create_directory("mine");
  put("mine/notes");
  ASSERT_TRUE(RecordingFolder::open("mine"));
  put("mine/trace.meta");
  EXPECT_EQ(error_of(RecordingFolder::open("mine")),
            "there is a recording in mine already; the option -o gives another folder");
}

TEST_F(Folder, ThatCannotBeMadeSaysWhy) {
  EXPECT_EQ(error_of(RecordingFolder::open("missing/mine")),
            "cannot make the folder missing/mine: No such file or directory; the option -o gives"
            " another");
  put("file");
  EXPECT_NE(error_of(RecordingFolder::open("file")), "");
}

TEST_F(Folder, IsTakenBackWithoutWhatIsNotIts) {
  const auto made = RecordingFolder::open("new");
  ASSERT_TRUE(made);
  put("new/trace.0");
  made->remove();
  EXPECT_FALSE(std::filesystem::exists("new"));

  std::filesystem::create_directory("mine");
  const auto used = RecordingFolder::open("mine");
  ASSERT_TRUE(used);
  put("mine/trace.0");
  put("mine/notes");
  used->remove();
  EXPECT_FALSE(std::filesystem::exists("mine/trace.0"));
  EXPECT_TRUE(std::filesystem::exists("mine/notes"));
}

}  // namespace
}  // namespace pcp::trace::command
