// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/report/report_options.hpp"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <string_view>
#include <tuple>

#include "command/arguments.hpp"
#include "command/show/shown.hpp"
#include "metrics/parse_argument.hpp"
#include "metrics/pmapi.hpp"

namespace pcp::trace::command {

namespace {

Result<Condition> parse_condition(const std::string& text) {
  return Condition::parse(text, terminal_of(STDOUT_FILENO));
}

constexpr const char* kNoHosts =
    "a report reads archives. To record a host: pcp-trace record -h HOST";

// A date, which is parsed once the archives are known, or an interval. PCP's library also takes ""
// and "nan", and ignores what it does not know after a number.
bool looks_like_time(std::string_view words) {
  const std::size_t at = words.find_first_not_of("+- ");
  if (at == std::string_view::npos || words[at] == '@') return at == 0;
  const std::string interval(words.substr(at));
  if (std::isdigit(static_cast<unsigned char>(interval.front())) == 0) return false;
  const bool is_zero = std::strtod(interval.c_str(), nullptr) == 0;  // -0s: the end
  return is_zero || agent::parse_period(interval);
}

Result<std::string> parse_moment(const std::string& text) {
  std::string words = in_pcps_words(text);
  if (looks_like_time(words)) return words;
  return Error{"\"" + text + "\" is not a time, as in 30s, -30s (before the end) or @10:00"};
}

Result<std::string> parse_base(const std::string& text) {
  if (!text.starts_with('-')) return parse_archive(text);
  return Error{"needs the older recording; " + printed_name(text) +
               " comes before --compare, or after that recording"};
}

Result<void> choose_times(ReportOptions& options, Ending ending) {
  if (options.times_of.value_or(ending) != ending)
    return Error{
        "--completed and --failed exclude each other; without them times are of all calls"};
  options.times_of = ending;
  return {};
}

std::vector<Option> table_for(ReportOptions& options) {
  return {
      {"by", 0, "LABELS",
       "add up the tags of a name with the same values of these\nlabels (LABEL,...); "
       "name: all tags of a name",
       parses(parse_by, options.choice.by)},
      {"where", 0, "LABELS", "show only tags with these labels: LABEL=GLOB,...",
       appends(parse_where, options.choice.where)},
      {"filter", 0, "GLOB", "show only tags with such a name",
       parses([](const std::string& text) { return Glob::parse(text); }, options.choice.names)},
      {"completed", 0, nullptr, "show times and percentiles of completed calls only",
       [&options](const char*) { return choose_times(options, Ending::Completed); }},
      {"failed", 0, nullptr, "show times and percentiles of failed calls only",
       [&options](const char*) { return choose_times(options, Ending::Failed); }},
      {"sort", 0, "COLUMN",
       "the greatest first: calls, rate, failed, total, mean, p50, p95,\n"
       "p99, max or busy",
       parses([](const std::string& text) { return parse_column(text); }, options.table.sort)},
      {"top", 0, "N", "show N names in each table", parses(parse_count, options.table.top)},
      {"all", 0, nullptr, "show every tag in a row of its own", sets(options.table.shows_all)},
      {"html", 0, "FILE", "write a page for a browser, in one file",
       parses(parse_file, options.page)},
      {"json", 0, nullptr, "print all tags with all values as JSON", sets(options.is_json)},
      {"markdown", 0, nullptr, "print tables and findings as GitHub's Markdown",
       sets(options.is_markdown)},
      {"junit", 0, "FILE", "write the findings of --fail-if as a JUnit report",
       parses(parse_file, options.junit)},
      {"compare", 0, "BASE", "compare with an older run; with several:\nOLDER... -- NEWER...",
       adds(parse_base, options.base)},
      {"per", 0, "TAG", "with --compare: show sums per call of this tag",
       parses(parse_text, options.per)},
      {"fail-if", 0, "CONDITION", "end with status 1 if this is true; may be repeated",
       adds(parse_condition, options.conditions)},
      {"start", 'S', "TIME", "show the run from this time on", parses(parse_moment, options.start)},
      {"finish", 'T', "TIME", "show the run up to this time", parses(parse_moment, options.finish)},
      {"origin", 'O', "TIME", "like -S; see PCPIntro(1)", parses(parse_moment, options.origin)},
      {"align", 'A', "TIME", "begin at a multiple of this; see PCPIntro(1)",
       parses(parse_moment, options.align)},
      {"archive", 'a', "NAME", "show this archive, like NAME without -a",
       adds(parse_text, options.archives)},
      {"hostzone", 'z', nullptr, "show times in the recorded host's zone",
       sets(options.has_archives_zone)},
      {"timezone", 'Z', "TZ", "show times in this time zone",
       parses(parse_text, options.time_zone)},
      {"host", 'h', nullptr, nullptr, refuses(kNoHosts)},
      help_option(options.wants_help),
  };
}

// Stores what `pcp OPTIONS trace report` has put into the environment.
Result<void> store_environment(const pmOptions& pcp, ReportOptions& options) {
  options.archives.assign(pcp.archives, pcp.archives + pcp.narchives);
  if (pcp.timezone != nullptr) options.time_zone = pcp.timezone;
  options.has_archives_zone = pcp.tzflag != 0;
  for (const auto& [name, text, target] :
       {std::tuple("-S: ", pcp.start_optarg, &options.start),
        std::tuple("-T: ", pcp.finish_optarg, &options.finish),
        std::tuple("-A: ", pcp.align_optarg, &options.align),
        std::tuple("-O: ", pcp.origin_optarg, &options.origin)}) {
    if (text == nullptr) continue;
    if (const Result<void> stored = parses(parse_moment, *target)(text); !stored)
      return Error{name + stored.error().message};
  }
  return {};
}

}  // namespace

Result<ReportOptions> parse_report_options(int argc, char* const* argv) {
  ReportOptions options;
  pmOptions pcp{};
  pcp.flags = PM_OPTFLAG_MULTI | PM_OPTFLAG_MIXED | PM_OPTFLAG_ENV_ONLY;
  pcp.context = PM_CONTEXT_ARCHIVE;  // also allows times without an archive
  pmGetOptions(argc, argv, &pcp);
  const Result<void> stored = store_environment(pcp, options);
  pmFreeOptions(&pcp);
  // The words behind "--", which divides the runs of a comparison.
  char* const* const behind = std::find(argv + 1, argv + argc, std::string_view("--"));
  const auto others =
      read_options(static_cast<int>(behind - argv), argv, table_for(options), OtherWords::Anywhere,
                   "no such option, or its argument is missing");
  if (!others) return others.error();
  options.table.by = options.choice.by;
  options.table.chosen_by = options.choice.options_that_leave_out();
  if (options.wants_help) return options;
  if (!stored) return stored.error();
  if (options.is_json && options.is_markdown)
    return Error{"--json and --markdown exclude each other"};
  if (pcp.errors > 0 || (options.has_archives_zone && !options.time_zone.empty()))
    return Error{"these options exclude each other"};
  // PCP 7 does not count the environment's host for a reader of archives.
  if (pcp.nhosts > 0 || std::getenv("PCP_HOST") != nullptr)
    return Error{std::string("-h: ") + kNoHosts};
  for (const Condition& each : options.conditions)
    if (each.is_relative() && options.base.empty())
      return Error{"--fail-if: '" + printed_name(each.text()) +
                   "': a change in percent needs an older run: --compare BASE"};
  if (!options.base.empty() && (options.table.top || options.table.shows_all || options.table.sort))
    return Error{
        "--top, --all and --sort go without --compare: a comparison shows the tags with the most "
        "lost time"};
  if (!options.base.empty())
    for (const auto& time : {options.start, options.finish, options.origin})
      if (time && time->starts_with('@'))
        return Error{
            "with --compare -S, -T and -O cut both runs, by -S 10s (after the begin of each) "
            "or -T -10s (before its end), not at a time of day: " +
            printed_name(*time)};
  if (options.per && options.base.empty()) return Error{"--per needs an older run: --compare BASE"};
  options.are_runs = !options.base.empty() && behind != argv + argc;
  std::vector<std::string>& to = options.are_runs ? options.base : options.archives;
  to.insert(to.end(), others->begin(), others->end());
  if (behind == argv + argc) return options;
  if (options.are_runs && behind + 1 == argv + argc)
    return Error{"the newer runs follow --: OLDER... -- NEWER..."};
  for (char* const* word = behind + 1; word != argv + argc; ++word) {
    if (std::string_view(*word).starts_with("--"))
      return Error{std::string(*word) + ": only archives follow --; put options before it"};
    options.archives.emplace_back(*word);
  }
  if (options.are_runs && options.base.size() + options.archives.size() > 2 &&
      (options.start || options.finish || options.origin || options.align))
    return Error{"-S, -T, -O and -A go with one run on each side of --compare"};
  return options;
}

std::string report_usage() {
  ReportOptions none;
  return usage(R"(Usage: pcp-trace report [OPTION...] [ARCHIVE|FOLDER...]

Shows how often each tag was called, how long the calls took, and how often they
failed. Several archives are shown as one. The default is the newest recording
in this directory. Archives come from pcp-trace record, or from a pmlogger that
logged "trace" of our agent or PCP's own.

)",
               table_for(none), R"(
A CONDITION is 'TAG WHAT OP NUMBER[UNIT]':
  TAG   a pattern as in a shell (* ? [...]), or an exact tag in double quotes;
        with labels, name{status=5*}: all label sets that have these labels
  WHAT  calls (all), completed, failed, failed%, rate, vanished (open when their
        program ended); total, mean, min, p50, p75, p90, p95, p99, p999, max of all
        calls, or behind the word completed or failed of these, as in failed max;
        value (the last one), added (to a counter); share (of the calls of a name,
        for TAG with labels); max/mean by LABEL (how uneven the total is over the
        values of a label)
  OP    < <= > >= == !=
  UNIT  ns, us, ms, s or min for times of transactions; without a unit total, mean,
        min, percentiles and max are those of observed values; % for shares
With --compare, 'TAG WHAT > +20%' and 'TAG WHAT < -20%' are about the change since
the older run. Beyond the limit, counts decide at once, other values only if the
change is more than noise. With three runs on each side a change that is probably
noise passes; more runs decide what three leave unknown, except for a percentile
so near the limit that its error (2%) matters.

Signs: - unknown; > or more; busy: calls in progress, on average; {3 sets}: the
label sets of a name together, with the worst of them below. In a comparison ^ and
v: greater or less, by more than noise. Sums (calls, failed, total, added) of several
runs are per run; with --per request they are per call of request.

Status: 0 success, and no condition is true; 1 a condition is true; 2 wrong usage,
an archive that cannot be read, or a condition that cannot be decided.

Examples:
  pcp-trace report
  pcp-trace report --sort p99 --top 10
  pcp-trace report --by status --where 'route=/cart'
  pcp-trace report --html page.html shop1.trace shop2.trace
  pcp-trace report --compare before.trace after.trace
  pcp-trace report --compare before.trace after.trace --per request
  pcp-trace report --compare old1.trace old2.trace old3.trace -- new?.trace
  pcp-trace report --fail-if '* p99 > 50ms' --fail-if 'checkout failed% > 0.1'
  pcp-trace report --fail-if 'request{status=5*} share > 0.1%'
  pcp-trace report --compare before.trace after.trace --fail-if '* p95 > +20%'
  pcp-trace report -S @10:00 -T @10:05 /var/log/pcp/pmlogger/web/20261122
  pcp-trace report --json | jq '.tags[] | {name, p99}'
)");
}

}  // namespace pcp::trace::command
