// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/report/report_input.hpp"

#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "command/pcp/archive_source.hpp"
#include "command/pcp/recording_folder.hpp"
#include "support/command_line.hpp"
#include "support/error_of.hpp"
#include "unit/command/archive_of_tags.hpp"
#include "unit/command/text.hpp"

namespace pcp::trace::command {
namespace {

class ReportInput : public OfArchives {
 protected:
  // Makes a folder that was modified so many hours from now.
  void make_folder(const std::string& name, int hours) {
    const std::filesystem::path index = directory_ / name / "trace.index";
    std::filesystem::create_directory(index.parent_path());
    std::ofstream(index) << "made";
    std::filesystem::last_write_time(
        index, std::filesystem::file_time_type::clock::now() + std::chrono::hours(hours));
  }
  void make_archive(const std::string& name = "run", int begin = 0, const ArchiveKind& kind = {}) {
    ArchiveOfTags archive(path(name), kind);
    archive.begin(begin);
    for (int second = 1; second <= 100; ++second)
      archive.sample(begin + second, {{kCalls, {{"a", 1.0 * second}}}});
    archive.finish();
  }
  static Result<ReportOptions> options_of(const std::vector<std::string>& words) {
    return parse_words(parse_report_options, words);
  }
  static ReportOptions good_options_of(const std::vector<std::string>& words) {
    return read_or_fail(options_of(words));
  }
  Result<ReadRequest> request_for(std::vector<std::string> words) {
    words.push_back(path());
    const auto options = options_of(words);
    if (!options) return options.error();
    return make_request(*options);
  }
  ReadRequest good_request_for(const std::vector<std::string>& words) {
    return read_or_fail(request_for(words));
  }
  std::pair<WallTime, WallTime> window_for(const std::vector<std::string>& words) {
    const Window window = good_request_for(words).window;
    return {window.begin, window.end};
  }
};

TEST_F(ReportInput, MayHaveItsLabelsInSeveralOptions) {
  EXPECT_EQ(good_options_of({"--where", "route=/cart,zone=eu", "--where", "status=5*"})
                .choice.where.size(),
            3u);
}

TEST_F(ReportInput, IsTheNewestRecordingWhateverItsFolderIsCalled) {
  make_folder("old.trace", 1);
  make_folder("new.trace", 3);
  make_folder("middle.trace", 2);
  std::filesystem::create_directory(directory_ / "empty.trace");
  EXPECT_EQ(read_or_fail(newest_recording(directory_.string())), path("new.trace/trace"));
  make_folder("mine", 4);
  EXPECT_EQ(read_or_fail(newest_recording(directory_.string())), path("mine/trace"));
}

TEST_F(ReportInput, AnArchiveIsKnownByAnyName) {
  make_folder("one", 1);
  make_folder("two", 1);
  for (const char* folder : {"one", "two"}) std::ofstream(path(folder) + "/trace.meta") << "x";
  const std::vector<std::string> archives{path("one/trace")};
  EXPECT_TRUE(is_among(archives, path("./one/../one/trace")));
  EXPECT_FALSE(is_among(archives, path("two/trace")));
}

TEST_F(ReportInput, HereIsNamedAsOneWouldNameIt) {
  make_folder("a.trace", 0);
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(directory_);
  const Result<std::string> newest = newest_recording(".");
  std::filesystem::current_path(before);
  EXPECT_EQ(read_or_fail(newest), "a.trace/trace");
}

TEST_F(ReportInput, WithoutARecordingSaysHowToMakeOne) {
  std::filesystem::create_directory(directory_ / "empty.trace");
  EXPECT_TRUE(has(error_of(newest_recording(directory_.string())), "pcp-trace record"));
}

TEST_F(ReportInput, MayBeAFolderAnArchiveOrOneOfItsFiles) {
  make_folder("a.trace", 0);
  EXPECT_EQ(*find_archive(path("a.trace")), path("a.trace/trace"));
  EXPECT_EQ(*find_archive("some/run"), "some/run");
  for (const char* const suffix : {".0", ".meta", ".index"})
    EXPECT_EQ(*find_archive(std::string("some/run") + suffix), "some/run");
  EXPECT_FALSE(find_archive(directory_.string()));
}

TEST_F(ReportInput, HasAnArchiveOnceThoughAPatternNamesEachOfItsFiles) {
  make_archive();
  EXPECT_EQ(good_request_for({path("run.0"), path("run.index"), path("run.meta")}).archives,
            std::vector{path()});
}

TEST_F(ReportInput, HasAllOfTheTimeOrATimeAsPcpUnderstandsIt) {
  make_archive();
  EXPECT_EQ(window_for({}), std::pair(WallTime::min(), WallTime::max()));
  EXPECT_EQ(window_for({"-S", "10s"}), std::pair(moment(10), WallTime::max()));
  EXPECT_EQ(window_for({"-S", "10s", "-T", "20s"}), std::pair(moment(10), moment(30)));
  EXPECT_EQ(window_for({"-S", "10000ms", "-T", "20000ms"}), std::pair(moment(10), moment(30)));
  EXPECT_EQ(window_for({"-S", "10000MS", "-T", "1s 19000Ms"}), std::pair(moment(10), moment(30)));
  EXPECT_EQ(window_for({"-T", "-20s"}), std::pair(WallTime::min(), moment(80)));
  EXPECT_EQ(window_for({"-O", "5s"}), std::pair(moment(5), WallTime::max()));
  EXPECT_EQ(window_for({"-S", "7s", "-A", "10s"}), std::pair(moment(10), WallTime::max()));
  EXPECT_EQ(window_for({"-A", "1min"}), std::pair(moment(40), WallTime::max()));
  EXPECT_EQ(window_for({"-z", "-S", "@17:53:40"}).first, moment(20));
  EXPECT_EQ(window_for({"-Z", "UTC-3", "-S", "@19:53:40"}).first, moment(20));
}

TEST_F(ReportInput, OfSeveralArchivesReachesFromTheFirstsBeginToTheLastsEnd) {
  make_archive();
  make_archive("next", 200);
  EXPECT_EQ(window_for({"-S", "10s", "-T", "-20s", path("next")}),
            std::pair(moment(10), moment(280)));
  make_archive("previous", -200, {.begin = -200});
  EXPECT_EQ(window_for({"-S", "10s", path("previous")}).first, moment(-190));
}

TEST_F(ReportInput, ShowsTimesOfTheFirstArchivesZoneOrOfTheOneItIsTold) {
  make_archive();
  make_archive("far", 0, {.time_zone = "UTC+9"});
  const auto zone = [this](const std::vector<std::string>& words) {
    return good_request_for(words).time_zone;
  };
  EXPECT_EQ(zone({}), "");
  EXPECT_EQ(zone({"-z"}), "CET-1");
  EXPECT_EQ(zone({"-z", path("far")}), "UTC+9");
  EXPECT_EQ(zone({"-Z", "UTC-3"}), "UTC-3");
}

TEST_F(ReportInput, IsNoHostWhichPcpMayHaveSaidInTheEnvironment) {
  ::setenv("PCP_HOST", "saturn", 1);
  const std::string error = error_of(request_for({}));
  ::unsetenv("PCP_HOST");
  EXPECT_TRUE(begins(error, "-h: "));
}

TEST_F(ReportInput, ThatIsNoTimeIsAnErrorOfOneLine) {
  make_archive();
  for (const char* const time : {"sometime", "", "nan", "10\xc2\xb5s", "-", "5 @10:00"}) {
    EXPECT_EQ(error_of(request_for({"-T", time})),
              "-T: \"" + std::string(time) +
                  "\" is not a time, as in 30s, -30s (before the end) or @10:00")
        << time;
  }
  EXPECT_TRUE(error_of(request_for({"-S", "@25:99"})).starts_with("no such time: 25:99: "));
}

TEST_F(ReportInput, ThatIsNoTimeZoneIsAnError) {
  make_archive();
  for (const std::string zone : {"Mars/Phobos", "CET-", "..", "<a>"})
    EXPECT_EQ(error_of(request_for({"-Z", zone})), "-Z: " + zone + ": no such time zone") << zone;
  for (const std::string zone : {"Europe/Berlin", "UTC", "<+03>-3", "CET-1CEST"})
    EXPECT_TRUE(request_for({"-Z", zone})) << zone;
}

TEST_F(ReportInput, MayBeSeveralRunsOnEachSide) {
  using Names = std::vector<std::string>;
  struct Case {
    Names words, base, archives;
    bool are_runs;
  };
  for (const auto& [words, base, archives, are_runs] : std::vector<Case>{
           {{"--compare", "a", "b"}, {"a"}, {"b"}, false},
           {{"--compare", "a", "b", "c"}, {"a"}, {"b", "c"}, false},
           {{"b", "--compare=a"}, {"a"}, {"b"}, false},
           {{"--compare", "a", "b", "--", "c", "./--json"}, {"a", "b"}, {"c", "./--json"}, true},
           {{"--compare", "a", "b", "--json", "c", "--", "d"}, {"a", "b", "c"}, {"d"}, true},
           {{"--compare", "a", "--", "b"}, {"a"}, {"b"}, true},
           {{"a", "--", "b"}, {}, {"a", "b"}, false}}) {
    const ReportOptions options = good_options_of(words);
    EXPECT_EQ(options.base, base) << words.back();
    EXPECT_EQ(options.archives, archives) << words.back();
    EXPECT_EQ(options.are_runs, are_runs) << words.back();
  }
}

TEST_F(ReportInput, NeedsNewerRunsBehindTheirMark) {
  EXPECT_EQ(error_of(options_of({"--compare", "a", "b", "--"})),
            "the newer runs follow --: OLDER... -- NEWER...");
}

class ComparedRuns : public ReportInput {
 protected:
  // The values of the tag before and now.
  std::pair<double, double> compared(const std::vector<std::string>& words, Figure figure) {
    const ReportOptions options = good_options_of(words);
    const ReadRequest request = read_or_fail(make_request(options));
    Model model = read_or_fail(read_model(request));
    const auto comparison = read_or_fail(compare_runs(options, request, model));
    const Difference& change = comparison->tags.at(0).of(figure);
    return {*change.before, *change.now};
  }
};

TEST_F(ComparedRuns, AreBothCutByOffsets) {
  make_archive("old", 0);
  make_archive("new", 500, {.begin = 500});
  const std::vector<std::string> runs{"--compare", path("old"), path("new")};
  for (const auto& [cut, calls] : std::vector<std::pair<std::vector<std::string>, double>>{
           {{"-S", "10s"}, 90}, {{"-T", "-10s"}, 90}, {{"-S10s", "-T", "20s"}, 20}}) {
    std::vector<std::string> words = cut;
    words.insert(words.end(), runs.begin(), runs.end());
    EXPECT_EQ(compared(words, Figure::Calls), std::pair(calls, calls)) << cut[0];
  }
}

TEST_F(ComparedRuns, HaveTheRateOfARunThoughTheyOverlap) {
  for (const auto& [name, begin] : {std::pair("a", 0), {"b", 0}, {"c", 500}, {"d", 700}})
    make_archive(name, begin);
  EXPECT_EQ(compared({"--compare", path("a"), path("b"), "--", path("c"), path("d")}, Figure::Rate),
            std::pair(1.0, 1.0));
}

TEST_F(ReportInput, NamesWhatItDoesNotUnderstand) {
  for (const auto& [words, part] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"--nonsense"}, "\"--nonsense\""},
           {{"-x"}, "\"-x\""},
           {{"-h", "saturn"}, "pcp-trace record -h HOST"},
           {{"-z", "-Z", "UTC"}, "these options exclude each other"},
           {{"--fail-if", "what"}, "--fail-if: 'what': expected after the tag"},
           {{"--compare", "a", "b", "--", "c", "--json"}, "--json: only archives follow --"},
           {{"--html", ""}, "--html: needs"},
           {{"-S", "@10:00", "--compare", "a", "b"}, "-S 10s (after the begin of each)"},
           {{"-T", "9s", "--compare", "a", "b", "--", "c"}, "go with one run on each side"},
           {{"--per", "a", "b"}, "--per needs an older run: --compare BASE"},
           {{"--fail-if"}, "--fail-if"},
           {{"--fail-if", "a mean > +20%", "a"}, "needs an older run: --compare BASE"},
           {{"--by", "Rank"}, "\"Rank\" is no label"},
           {{"--where", "rank"}, "lacks a value"},
           {{"--sort", "p42"}, "unknown column \"p42\"; columns are calls, rate"},
           {{"--top", "0"}, "is no number"},
           {{"--top", "3", "--compare", "old"}, "--top, --all and --sort go without --compare: "},
           {{"--compare", "--fail-if", "a mean > +1%"},
            "needs the older recording; --fail-if comes "},
           {{"--compare", ""}, "--compare: needs"}}) {
    EXPECT_TRUE(has(error_of(request_for(words)), part)) << part;
  }
}

}  // namespace
}  // namespace pcp::trace::command
