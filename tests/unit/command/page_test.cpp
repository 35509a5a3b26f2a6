// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/show/page/page.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "base/descriptor.hpp"
#include "support/error_of.hpp"
#include "support/full_disk.hpp"
#include "support/scratch_directory.hpp"
#include "unit/command/made_tags.hpp"
#include "unit/command/text.hpp"

namespace pcp::trace::command {
namespace {

class Page : public testing::Test {
 protected:
  std::string text() const {
    std::ostringstream text;
    text << std::ifstream(path_).rdbuf();
    return text.str();
  }
  long files() const { return std::distance(std::filesystem::directory_iterator(directory_), {}); }

  const ScratchDirectory scratch_;
  const std::filesystem::path directory_ = scratch_.path();
  const std::filesystem::path path_ = directory_ / "trace.html";
};

Model with_tag(const std::string& name) {
  Model model;
  model.tags.push_back(made_tag(TraceType::Point, name, 0));
  return model;
}

TEST_F(Page, IsOneWholeDocument) {
  ASSERT_TRUE(write_page(Model{}, path_));
  const std::string page = text();
  EXPECT_TRUE(page.starts_with("<!doctype html>"));
  EXPECT_TRUE(page.ends_with("</html>\n"));
  EXPECT_FALSE(has(page, "@PAGE_"));
  EXPECT_FALSE(has(page, "<script src"));
  EXPECT_TRUE(has(page, "Dan Vanderkam")) << "the licence of dygraphs asks for it";
}

TEST_F(Page, NoNameIsPartOfTheDocument) {
  ASSERT_TRUE(write_page(with_tag("</script><b>wanted-nowhere"), path_));
  EXPECT_FALSE(has(text(), "wanted-nowhere"));
}

TEST_F(Page, ReplacesTheOneThatIsThere) {
  ASSERT_TRUE(write_page(Model{}, path_));
  const std::string before = text();
  ASSERT_TRUE(write_page(with_tag("a"), path_));
  EXPECT_NE(text(), before);
  EXPECT_EQ(files(), 1);
}

// Otherwise root could replace a device by a file.
TEST_F(Page, IsWrittenToWhatIsNoFile) {
  const std::filesystem::path pipe = directory_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0666), 0);
  const Descriptor reader(::open(pipe.c_str(), O_RDONLY | O_NONBLOCK));
  ASSERT_EQ(::fcntl(reader.get(), F_SETPIPE_SZ, 1 << 20), 1 << 20);
  ASSERT_TRUE(write_page(Model{}, pipe));
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
  std::string beginning(15, ' ');
  ASSERT_EQ(::read(reader.get(), beginning.data(), beginning.size()), 15);
  EXPECT_EQ(beginning, "<!doctype html>");
}

TEST_F(Page, IsWhereALinkLeadsTo) {
  std::ofstream(directory_ / "other.html") << "the old one";
  std::filesystem::create_symlink("other.html", path_);
  ASSERT_TRUE(write_page(Model{}, path_));
  EXPECT_TRUE(std::filesystem::is_symlink(path_));
  EXPECT_TRUE(text().starts_with("<!doctype html>"));
  EXPECT_EQ(files(), 2);
}

TEST_F(Page, WithoutAPlaceTheErrorNamesTheFile) {
  const std::string path = directory_ / "absent/trace.html";
  EXPECT_EQ(error_of(write_page(Model{}, path)),
            path + ": cannot write the page: No such file or directory");
}

TEST_F(Page, WithoutRoomTheOldOneStays) {
  std::ofstream(path_) << "the old one";
  {
    const FullDisk disk(1000);
    EXPECT_EQ(error_of(write_page(Model{}, path_)),
              path_.string() + ": cannot write the page: File too large");
  }
  EXPECT_EQ(text(), "the old one");
  EXPECT_EQ(files(), 1);
}

TEST_F(Page, AFolderIsNoPlaceForIt) {
  std::filesystem::create_directory(path_);
  EXPECT_FALSE(write_page(Model{}, path_));
  EXPECT_EQ(files(), 1);
}

}  // namespace
}  // namespace pcp::trace::command
