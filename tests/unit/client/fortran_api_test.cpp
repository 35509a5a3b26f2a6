// SPDX-License-Identifier: LGPL-2.1-or-later
#include <cstddef>
#include <string>

#include <gtest/gtest.h>

#include "pcp/trace.h"

extern "C" {
int pmtracebegin_(const char* tag, std::size_t length);
int pmtraceend_(const char* tag, std::size_t length);
void pmtraceerrstr_(const int* code, char* text, std::size_t length);
}

namespace {

int begin_tag(const std::string& tag) { return pmtracebegin_(tag.data(), tag.size()); }
int end_tag(const std::string& tag) { return pmtraceend_(tag.data(), tag.size()); }

// The order of transactions by name is checked even without an agent: results tell the tag of a
// call.
class FortranApi : public testing::Test {
 protected:
  void SetUp() override { pmtracestate(PMTRACE_STATE_NOAGENT); }
};

TEST_F(FortranApi, LeavesTrailingBlanksOutAndKeepsOthers) {
  EXPECT_EQ(begin_tag("  one tag   "), 0);
  EXPECT_EQ(pmtracebegin("  one tag"), PMTRACE_ERR_INPROGRESS);
  EXPECT_EQ(begin_tag("one tag"), 0);
  EXPECT_EQ(end_tag("  one tag"), 0);
}

TEST_F(FortranApi, TellsTagsInOneBufferApart) {
  std::string buffer = "first ";
  EXPECT_EQ(begin_tag(buffer), 0);
  buffer = "second";
  EXPECT_EQ(begin_tag(buffer), 0);
  EXPECT_EQ(begin_tag(buffer), PMTRACE_ERR_INPROGRESS);
  buffer = "first ";
  EXPECT_EQ(end_tag(buffer), 0);
  EXPECT_EQ(pmtraceend("first"), PMTRACE_ERR_NOPROGRESS);
  EXPECT_EQ(pmtraceend("second"), 0);
}

TEST_F(FortranApi, EndsATagAtItsNul) {
  EXPECT_EQ(begin_tag(std::string("cut  \0 here", 11)), 0);
  EXPECT_EQ(end_tag("cut"), 0);
}

TEST_F(FortranApi, RefusesWhatIsNotATag) {
  EXPECT_EQ(begin_tag(""), PMTRACE_ERR_TAGNAME);
  EXPECT_EQ(begin_tag("    "), PMTRACE_ERR_TAGNAME);
  EXPECT_EQ(begin_tag(std::string(255, 'x')), PMTRACE_ERR_TAGLENGTH);
  EXPECT_EQ(begin_tag(std::string(254, 'x') + std::string(100, ' ')), 0);
  EXPECT_EQ(pmtraceend(std::string(254, 'x').c_str()), 0);
}

TEST_F(FortranApi, PadsAndCutsMessages) {
  const int code = PMTRACE_ERR_TAGNAME;
  const std::string message = pmtraceerrstr(code);
  std::string text(message.size() + 5, '#');
  pmtraceerrstr_(&code, text.data(), text.size());
  EXPECT_EQ(text, message + "     ");
  text.assign("#######");
  pmtraceerrstr_(&code, text.data(), 4);
  EXPECT_EQ(text, message.substr(0, 4) + "###");
}

}  // namespace
