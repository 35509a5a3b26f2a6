// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/spans/spans_options.hpp"

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/command_line.hpp"
#include "support/error_of.hpp"
#include "support/scratch_directory.hpp"

namespace pcp::trace::command {
namespace {

Result<SpansOptions> spans_of(const std::vector<std::string>& words) {
  ::unsetenv("PCP_HOST");
  return parse_words(parse_spans_options, words);
}

Result<ExportOptions> export_of(const std::vector<std::string>& words) {
  ::unsetenv("PCP_HOST");
  return parse_words(parse_export_options, words);
}

std::string complaint(const std::vector<std::string>& words) { return error_of(spans_of(words)); }

TEST(ExportOptions, AnyWordOfAFilterAsksForSpans) {
  const auto asks = [](const std::vector<std::string>& words) {
    std::vector<std::string> all{"--otlp", "http://a"};
    all.insert(all.end(), words.begin(), words.end());
    return export_of(all)->has_filter;
  };
  EXPECT_FALSE(asks({}));
  EXPECT_FALSE(asks({"-a", "one", "./two"}));
  EXPECT_TRUE(asks({"share=1%"}));
  EXPECT_TRUE(asks({"failed"}));
  EXPECT_TRUE(asks({"-a", "one", "note.a=b"}));
}

TEST(ExportOptions, AreOfOneOutput) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"--chrome", "f", "--otlp", "http://a"},
        {"--chrome", "f", "--once"},
        {"--otlp", "http://a", "--only", "logs"},
        {"--otlp", "http://a", "--only", "spans", "--once"},
        {"--otlp", "http://a", "-a", "one", "-t", "1s"},
        {}})
    EXPECT_FALSE(export_of(words));
}

TEST(ExportOptions, AnArchiveIsInsteadOfAHost) {
  const auto options = export_of({"--chrome", "f", "-a", "one", "--archive=two", "-s", "3"});
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_EQ(options->archives, (std::vector<std::string>{"one", "two"}));
  EXPECT_EQ(options->traces, 3U);
  for (const std::vector<std::string>& more :
       {std::vector<std::string>{"-h", "shop"}, {"-T", "1s"}, {"kind=point"}}) {
    std::vector<std::string> words{"--chrome", "f", "-a", "one"};
    words.insert(words.end(), more.begin(), more.end());
    EXPECT_FALSE(export_of(words)) << more.front();
  }
  EXPECT_FALSE(export_of({"--chrome", "f", "-a", ""}));
}

TEST(SpansOptions, AreOfThisHostAndAllTagsUnlessTold) {
  const Result<SpansOptions> options = spans_of({});
  ASSERT_TRUE(options);
  EXPECT_EQ(options->hosts, std::vector<std::string>{"local:"});
  EXPECT_EQ(wire::text_of(options->filter), "tag=* limit=1000/s");
  EXPECT_FALSE(options->traces);
  EXPECT_FALSE(options->duration);
}

TEST(SpansOptions, MayStandAmongTheWordsOfTheFilter) {
  const Result<SpansOptions> options = spans_of(
      {"-h", "one", "tag=a", "--json", "slower=10ms", "-s", "3", "--host=two", "-T", "500ms"});
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_EQ(options->hosts, (std::vector<std::string>{"one", "two"}));
  EXPECT_EQ(wire::text_of(options->filter), "tag=a slower=10ms limit=1000/s");
  EXPECT_EQ(options->typed_filter, "tag=a slower=10ms");
  EXPECT_TRUE(options->is_json);
  EXPECT_EQ(options->traces, 3U);
  EXPECT_EQ(options->duration, std::chrono::milliseconds(500));
}

TEST(SpansOptions, TakeAWholeFilterInOneWord) {
  const Result<SpansOptions> options = spans_of({"tag=\"a b\" slower=10ms", "share=1%"});
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_EQ(wire::text_of(options->filter), "tag=\"a b\" slower=10ms share=1% limit=1000/s");
}

TEST(SpansOptions, TakeTheHostThatPcpWasGiven) {
  ::setenv("PCP_HOST", "saturn", 1);
  EXPECT_EQ(parse_words(parse_spans_options, {})->hosts, std::vector<std::string>{"saturn"});
  ::unsetenv("PCP_HOST");
}

TEST(SpansOptions, ThatAreWrongAreNamed) {
  EXPECT_EQ(complaint({"--jsno"}), "--jsno: is not an option");
  EXPECT_EQ(complaint({"tag=a", "-x"}), "-x: is not an option");
  EXPECT_EQ(complaint({"-a", "x", "--open"}), "--open: shows what is open now: leave out -a");
  EXPECT_EQ(complaint({"-a", "x", "limit=9/s"}),
            "-a: limit= and kind= are for programs; leave out \"limit=9/s\"");
  EXPECT_TRUE(complaint({"-a", "x", "status=504"})
                  .ends_with("trace=ID, note.KEY=PATTERN and label.KEY=PATTERN"));
  EXPECT_TRUE(
      complaint({"-a", "x", "fail"}).starts_with("fail: is no recording here, and no word"));
  EXPECT_EQ(complaint({"note.=5"}), "note.=5: expected a note and a pattern, as in note.item=23*");
  EXPECT_EQ(complaint({"note.a=["}).substr(0, 10), "note.a=[: ");
  EXPECT_EQ(complaint({"-s"}), "-s: needs an argument");
  EXPECT_EQ(complaint({"-s", "0"}), "-s: \"0\" is not a number of traces, from 1 on");
  EXPECT_EQ(complaint({"-T", "soon"}).substr(0, 4), "-T: ");
  EXPECT_EQ(complaint({"-h", ""}), "-h: needs a host");
  EXPECT_EQ(complaint({"-h", "/run/x"}), "-h: a host is a name; for a socket, unix:/run/x");
  EXPECT_EQ(complaint({"slower=ten"}).substr(0, 12), "slower=ten: ");
  EXPECT_EQ(complaint({"checkout"}).substr(0, 10), "checkout: ");
  EXPECT_EQ(complaint({"--open", "-s", "1"}),
            "--open: shows what is open now, and ends: leave out -s and -T");
  EXPECT_EQ(complaint({"--open", "tag=a", "service=b"}),
            "--open: takes only tag=PATTERN: leave out \"service=b\"");
  EXPECT_TRUE(spans_of({"--open", "tag=a"}));
}

TEST(ExportOptions, ThatAreWrongAreNamed) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"--chrome", ""}, {"--chrome="}, {"tag=a", "--chrome", ""}})
    EXPECT_EQ(error_of(export_of(words)), "--chrome: needs a file");
  EXPECT_EQ(error_of(export_of({"--chrome", "x", "/proc"})), "to read a recording: -a /proc");
}

TEST(ExportOptions, TakeAFilterForOneThoughAFileHasItsName) {
  namespace fs = std::filesystem;
  const fs::path before = fs::current_path();
  const ScratchDirectory folder;
  fs::current_path(folder.path());
  fs::create_directory("tag=a");
  EXPECT_TRUE(export_of({"--chrome", "x", "tag=a"}));
  fs::current_path(before);
}

TEST(ExportOptions, TakeArchivesAsAShellNamesThem) {
  const auto options = export_of({"--chrome", "x", "-a", "1.trace", "2.trace"});
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_EQ(options->archives, (std::vector<std::string>{"1.trace", "2.trace"}));
  const auto filtered = spans_of({"failed note.b=1", "-a", "1.trace", "tag=a", "2.trace"});
  ASSERT_TRUE(filtered) << filtered.error().message;
  EXPECT_EQ(filtered->archives, (std::vector<std::string>{"1.trace", "2.trace"}));
  EXPECT_EQ(wire::text_of(filtered->wanted.captured.value()), "tag=a limit=1000/s");
  EXPECT_TRUE(spans_of({"failed"})->has_filter);
  EXPECT_FALSE(spans_of({"-a", "1.trace", "2.trace"})->has_filter);
  EXPECT_EQ(filtered->wanted.reasons, wire::kIfFailed);
  EXPECT_EQ(wire::text_of(spans_of({"wanted"})->filter), "tag=* wanted limit=1000/s");
  EXPECT_EQ(wire::text_of(spans_of({"died"})->filter), "tag=* died limit=1000/s");
  EXPECT_EQ(spans_of({"failed", "failed"}).error().message, "failed: this word is given twice");
  EXPECT_EQ(filtered->wanted.notes.size(), 1U);
}

TEST(SpansOptions, OfHelpNeedNotMakeSense) {
  EXPECT_TRUE(spans_of({"nonsense", "--help"})->wants_help);
}

}  // namespace
}  // namespace pcp::trace::command
