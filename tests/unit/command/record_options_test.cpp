// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/record/record_options.hpp"

#include <cstdlib>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/command_line.hpp"
#include "support/error_of.hpp"
#include "unit/command/text.hpp"

namespace pcp::trace::command {
namespace {

using namespace std::chrono_literals;

Result<RecordOptions> parse(const std::vector<std::string>& words) {
  return parse_words(parse_record_options, words);
}

using Words = std::vector<std::string>;

TEST(RecordOptions, TheFirstWordThatIsNoOptionBeginsTheCommand) {
  const auto options = parse({"-t", "100ms", "-o", "here", "app", "-t", "--help"});
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_EQ(options->command, (Words{"app", "-t", "--help"}));
  EXPECT_EQ(options->interval, 100ms);
  EXPECT_EQ(options->folder, "here");
  EXPECT_FALSE(options->wants_help);
  EXPECT_EQ(parse({"--", "-odd"})->command, (Words{"-odd"}));
  EXPECT_EQ(error_of(parse({"-o", "", "app"})), "-o: needs a folder");
  EXPECT_EQ(error_of(parse({"--html", "", "app"})), "--html: needs a file");
}

TEST(RecordOptions, OtherMetricsAreAListThatMayGoOn) {
  EXPECT_EQ(parse({"--also", "mem.util.free,disk.dev.*", "--also", "kernel", "app"})->also,
            (Words{"mem.util.free", "disk.dev.*", "kernel"}));
  for (const char* const none : {"", ",", "mem,", ".*"})
    EXPECT_TRUE(begins(error_of(parse({"--also", none, "app"})), "--also: \"")) << none;
}

TEST(RecordOptions, ACommandThatIsAFilterLacksItsOption) {
  EXPECT_TRUE(has(hint_of_filter({"died", "app"}), "put --spans before it"));
  EXPECT_EQ(hint_of_filter({"dyed"}), "");
}

TEST(RecordOptions, AHostIsRecordedForATime) {
  const auto options = parse({"--host=shop", "--size", "2min", "--archive-version", "3"});
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_EQ(options->host, "shop");
  EXPECT_EQ(options->duration, 2min);
  EXPECT_EQ(options->version, ArchiveVersion::V3);
  EXPECT_FALSE(options->interval);
}

TEST(RecordOptions, AFilterOfSpansIsCheckedAndMadeCanonical) {
  const auto options = parse({"--spans", "share=10%  tag=request", "app"});
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_EQ(options->typed_spans, "share=10%  tag=request");
  EXPECT_EQ(options->spans, "tag=request share=10% limit=100000/s");
  EXPECT_EQ(parse({"app"})->spans, "");
  EXPECT_TRUE(error_of(parse({"--spans", "tga=request", "app"})).starts_with("--spans: "));
  EXPECT_TRUE(error_of(parse({"--spans=", "app"})).starts_with("--spans: "));
  EXPECT_TRUE(
      error_of(parse({"--spans", "tag=a note.b=1", "app"})).ends_with("-a RECORDING note.b=1"));
}

// The room in the recording decides; a host's agent has other monitors, too.
TEST(RecordOptions, AFilterOfSpansHasAHighLimitUnlessItNamesOne) {
  EXPECT_EQ(parse({"--spans", "tag=a limit=5/s", "app"})->spans, "tag=a limit=5/s");
  EXPECT_EQ(parse({"--spans", "tag=a", "-h", "shop"})->spans, "tag=a limit=1000/s");
  // Its canonical text has room for the usual limit only.
  const std::string long_filter = "tag=" + std::string(1024 - 4 - 13, 'x');
  ASSERT_TRUE(parse({"--spans", long_filter, "app"}));
  EXPECT_TRUE(parse({"--spans", long_filter, "app"})->spans.ends_with(" limit=1000/s"));
}

TEST(RecordOptions, LabelsToSplitByAreThoseOfTheAgentsOption) {
  const auto options = parse({"--split=service,rank", "app"});
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_EQ(options->split, (Words{"rank", "service"}));
  EXPECT_TRUE(parse({"app"})->split.empty());
}

TEST(RecordOptions, TakesWhatPcpGivesInTheEnvironment) {
  ::setenv("PCP_HOST", "shop", 1);
  ::setenv("PCP_INTERVAL", "5sec", 1);
  const auto host = parse({});
  const auto command = parse({"-t", "2", "app"});
  ::setenv("PCP_INTERVAL", "soon", 1);
  const std::string problem = error_of(parse({"app"}));
  ::unsetenv("PCP_HOST");
  ::unsetenv("PCP_INTERVAL");
  ASSERT_TRUE(host) << host.error().message;
  EXPECT_EQ(host->host, "shop");
  EXPECT_EQ(host->interval, 5s);
  ASSERT_TRUE(command) << command.error().message;
  EXPECT_EQ(command->host, "");
  EXPECT_EQ(command->interval, 2s);
  EXPECT_TRUE(has(problem, "PCP_INTERVAL: \"soon\""));
}

TEST(RecordOptions, AMistakeIsNamed) {
  const std::vector<std::pair<Words, std::string>> mistakes{
      {{}, "nothing to record"},
      {{"-h", "shop", "app"}, "on this machine"},
      {{"-s", "5s", "app"}, "-s: "},
      {{"-h", "shop", "--wait"}, "--wait: "},
      {{"-h", "shop", "--split=rank"}, "--split: is for a command; that host's agent decides"},
      {{"--split=", "app"}, "--split: \"\" is not service, pid, or the name of a label"},
      {{"--split=Rank", "app"}, "--split: \"Rank\" is not service, pid, or the name of a label"},
      {{"--split=rank,rank", "app"}, "--split: \"rank\" is given twice"},
      {{"-h", "shop1", "-h", "shop2"}, "-h: one host has one recording: start record for each"},
      {{"-h", "/run/x"}, "-h: a host is a name; for a socket, unix:/run/x"},
      {{"--spans", "tag=a", "slower=10ms", "app"}, "--spans: slower=10ms is a word of the filter"},
      {{"-t"}, "-t: needs an argument"},
      {{"--output"}, "--output: needs an argument"},
      {{"-z", "app"}, "-z: is not an option"},
      {{"--fast", "app"}, "--fast: is not an option"},
      {{"-t", "1ms", "app"}, "-t: \"1ms\" is shorter"},
      {{"--interval=x", "app"}, "\"x\""},
      {{"-h", "shop", "-s", "-3"}, "-s: \"-3\""},
      {{"--archive-version", "4", "app"}, "--archive-version: \"4\""},
  };
  for (const auto& [words, part] : mistakes) EXPECT_TRUE(has(error_of(parse(words)), part));
}

TEST(RecordOptions, HelpNeedsNothingElse) {
  EXPECT_TRUE(parse({"--help"})->wants_help);
  EXPECT_TRUE(parse({"-?"})->wants_help);
  EXPECT_TRUE(parse({"--help", "--nonsense"})->wants_help);
}

}  // namespace
}  // namespace pcp::trace::command
