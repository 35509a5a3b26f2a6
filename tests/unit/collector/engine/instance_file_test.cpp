// SPDX-License-Identifier: LGPL-2.1-or-later
#include "collector/engine/instance_file.hpp"

#include <filesystem>
#include <fstream>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "support/error_of.hpp"
#include "support/scratch_directory.hpp"

namespace pcp::trace::agent {
namespace {

struct InstanceFileTest : testing::Test {
  void write(const std::string& text) const { std::ofstream(path, std::ios::binary) << text; }
  std::string read() const {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  InstanceFile::Contents load() const { return InstanceFile(path).load(); }

  const ScratchDirectory scratch;
  const std::string directory = scratch.path();
  const std::string path = directory + "/trace.instances";
};

const std::vector<KnownInstance> kSome{
    {TraceType::Transact, "checkout", 1, 0},
    {TraceType::Point, " leading blank", 3, 1},
    {TraceType::Observe, "new\nline \\x0a back\\slash", 2, 0},
    {TraceType::Counter,
     "gr\xc3\xb6\xc3\x9f"
     "e \xff\x01[]\"",
     999'999'999, 4'000'000'000},
};

TEST_F(InstanceFileTest, GivesBackWhatWasSaved) {
  EXPECT_EQ(error_of(InstanceFile(path).save(kSome, {})), "");
  const auto contents = load();
  EXPECT_EQ(contents.warning, "");
  EXPECT_TRUE(contents.instances == kSome);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory), {}), 1);
  EXPECT_EQ(error_of(InstanceFile(path).save({}, {})), "");
  EXPECT_TRUE(load().instances.empty());
  EXPECT_EQ(load().warning, "");
}

TEST_F(InstanceFileTest, IsTextOfOneLinePerInstanceAndRemembersWhichNumbersAreReserved) {
  ASSERT_TRUE(InstanceFile(path).save({kSome[0], kSome[1]}, {5, 6, 0, 1}));
  EXPECT_EQ(read(),
            "pcp-trace-instances 1\nreserved 5 6 0 1\n1 1 0 checkout\n2 3 1 "
            "\\x20leading\\x20blank\nend\n");
  EXPECT_EQ(load().reserved, (Numbers{5, 6, 0, 1}));
  EXPECT_EQ(load().warning, "");
  write("pcp-trace-instances 1\n1 1 0 a\nend\n");  // as older agents wrote it
  EXPECT_EQ(load().reserved, Numbers{});
  EXPECT_EQ(load().warning, "");
  for (const char* damaged : {"", "1", "1 2 3", "1 2 3 4 5", "1 2 3 -4", "1 2 3 1000000001"}) {
    write("pcp-trace-instances 1\nreserved " + std::string(damaged) + "\nend\n");
    EXPECT_EQ(load().reserved, Numbers{});
    EXPECT_NE(load().warning, "") << damaged;
  }
}

TEST_F(InstanceFileTest, SaysInOneLineThatThereIsNoFile) {
  const auto contents = load();
  EXPECT_TRUE(contents.instances.empty());
  EXPECT_EQ(contents.warning, path + ": No such file or directory; instances are numbered afresh");
}

TEST_F(InstanceFileTest, RefusesAnUnknownFormatAndWhatIsNoRegularFile) {
  write("pcp-trace-instances 2\n1 1 0 a\nend\n");
  for (const std::string& name : {path, directory, std::string("/dev/zero")}) {
    const auto contents = InstanceFile(name).load();
    EXPECT_TRUE(contents.instances.empty()) << name;
    EXPECT_NE(contents.warning, "") << name;
  }
}

TEST_F(InstanceFileTest, LeavesTheOldFileIfItCannotSave) {
  ASSERT_TRUE(InstanceFile(path).save(kSome, {}));
  std::filesystem::create_directory(path + ".new");
  EXPECT_NE(error_of(InstanceFile(path).save({}, {})).find(path + ": cannot save"),
            std::string::npos);
  EXPECT_EQ(load().instances.size(), kSome.size());
  EXPECT_FALSE(InstanceFile(directory + "/none/file").save(kSome, {}));
}

TEST_F(InstanceFileTest, SkipsLinesThatMakeNoSense) {
  write(
      "pcp-trace-instances 1\n"
      "1 1 0 good\n"
      "0 1 0 type\n5 1 0 type\nx 1 0 type\n"
      "1 0 0 number\n1 -1 0 number\n1 2147483648 0 number\n1 2147483647 0 number\n"
      "1 5 number\n1 5\n\n1 5 0 \n1 5 0 two words\n1 5 0 \\x0\n1 5 0 \\x00\n1 5 0 \\xzz\n"
      "1 5 0 " +
      std::string(300, 'a') +
      "\n"
      "2 1 0 good\nend\n");
  const auto contents = load();
  ASSERT_EQ(contents.instances.size(), 2u);
  EXPECT_EQ(contents.instances[0].tag, "good");
  EXPECT_EQ(contents.instances[1].type, TraceType::Point);
  EXPECT_NE(contents.warning.find("damaged (16 lines"), std::string::npos) << contents.warning;
}

TEST_F(InstanceFileTest, GivesNoNumberAndNoTagTwice) {
  write("pcp-trace-instances 1\n1 1 0 a\n1 1 0 b\n1 2 0 a\n1 2 0 c\n2 1 0 a\nend\n");
  const auto contents = load();
  ASSERT_EQ(contents.instances.size(), 3u);
  EXPECT_EQ(contents.instances[0].tag, "a");
  EXPECT_EQ(contents.instances[1].tag, "c");
  EXPECT_EQ(contents.instances[1].instance, 2);
  EXPECT_NE(contents.warning, "");
}

TEST_F(InstanceFileTest, NoticesThatItWasCutOffAnywhere) {
  ASSERT_TRUE(InstanceFile(path).save(kSome, {}));
  const std::string whole = read();
  for (std::size_t length = 0; length < whole.size(); ++length) {
    write(whole.substr(0, length));
    const auto contents = load();
    EXPECT_NE(contents.warning, "") << length;
    for (std::size_t i = 0; i < contents.instances.size(); ++i) {
      EXPECT_TRUE(contents.instances[i] == kSome[i]);
    }
  }
}

TEST_F(InstanceFileTest, SurvivesAnyDamage) {
  ASSERT_TRUE(InstanceFile(path).save(kSome, {}));
  const std::string whole = read();
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    std::string damaged = whole;
    for (int i = 0; i < 3; ++i) damaged[random() % damaged.size()] = static_cast<char>(random());
    write(damaged);
    const auto contents = load();
    std::set<std::pair<TraceType, std::int32_t>> numbers;
    for (const auto& known : contents.instances) {
      EXPECT_TRUE(is_tag(known.tag));
      EXPECT_TRUE(numbers.insert({known.type, known.instance}).second);
    }
  }
}

}  // namespace
}  // namespace pcp::trace::agent
