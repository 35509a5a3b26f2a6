// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/report/report_options.hpp"

#include <cctype>
#include <cstdlib>
#include <iterator>
#include <string_view>
#include <utility>

#include "command/time_argument.hpp"
#include "metrics/pmapi.hpp"

namespace pcp::trace::command {

namespace {

constexpr std::string_view kNoHosts =
    "-h: a report is made of archives. For a host: pcp-trace record -h HOST";

enum ReportOption { kBaseOption, kConditionOption, kHelpOption, kPageOption, kJsonOption };

// PCP's options also come by environment variables, from `pcp -a ... trace report`.
pmLongOptions long_options[] = {
    {"compare", 1, 0, "BASE", nullptr},
    {"fail-if", 1, 0, "CONDITION", nullptr},
    {"help", 0, 0, nullptr, nullptr},
    {"html", 1, 0, "FILE", nullptr},
    {"json", 0, 0, nullptr, nullptr},
    PMOPT_ALIGN,
    PMOPT_ARCHIVE,
    PMOPT_FINISH,
    PMOPT_HOST,
    PMOPT_HOSTZONE,
    PMOPT_ORIGIN,
    PMOPT_START,
    PMOPT_TIMEZONE,
    PMAPI_OPTIONS_END,
};

// We report these errors ourselves, instead of PCP's library.
int is_ours(int letter, pmOptions*) {
  return letter == '?' || letter == ':' || letter == 'h' ? 1 : 0;
}

class PcpOptions {
 public:
  PcpOptions() {
    state.override = is_ours;
    state.flags = PM_OPTFLAG_MULTI | PM_OPTFLAG_MIXED | PM_OPTFLAG_QUIET;
    state.short_options = "A:a:h:O:S:T:Z:z";
    state.long_options = long_options;
    state.context = PM_CONTEXT_ARCHIVE;  // also allows archives without -a
  }
  PcpOptions(const PcpOptions&) = delete;
  PcpOptions& operator=(const PcpOptions&) = delete;
  ~PcpOptions() { pmFreeOptions(&state); }

  pmOptions state{};
};

Result<void> take_long_option(int which, const char* argument, ReportOptions& options) {
  switch (which) {
    case kBaseOption:
      options.base = argument;
      if (options.base.empty()) return Error{"--compare: needs an archive, or its folder"};
      return {};
    case kConditionOption: {
      Result<Condition> condition = Condition::parse(argument);
      if (!condition) return Error{"--fail-if: " + condition.error().message};
      options.conditions.push_back(*std::move(condition));
      return {};
    }
    case kHelpOption:
      options.wants_help = true;
      return {};
    case kPageOption:
      options.page = argument;
      if (options.page.empty()) return Error{"--html: needs a file"};
      return {};
    default:
      options.is_json = true;
      return {};
  }
}

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

Result<void> take_time(const char* name, const char* text, std::optional<std::string>& target) {
  if (text == nullptr) return {};
  target = in_pcps_words(text);
  if (looks_like_time(*target)) return {};
  return Error{std::string(name) + ": \"" + text +
               "\" is not a time, as in 30s, -30s (before the end) or @10:00"};
}

Result<void> take_pcp_options(const pmOptions& state, ReportOptions& options) {
  for (int i = 0; i < state.narchives; ++i) options.archives.emplace_back(state.archives[i]);
  for (const Result<void>& taken : {take_time("-S", state.start_optarg, options.start),
                                    take_time("-T", state.finish_optarg, options.finish),
                                    take_time("-A", state.align_optarg, options.align),
                                    take_time("-O", state.origin_optarg, options.origin)})
    if (!taken) return taken;
  if (state.timezone != nullptr) options.time_zone = state.timezone;
  options.has_archives_zone = state.tzflag != 0;
  return {};
}

}  // namespace

Result<ReportOptions> parse_report_options(int argc, char* const* argv) {
  ReportOptions options;
  PcpOptions pcp;
  pmOptions& state = pcp.state;
  for (int letter; (letter = pmGetOptions(argc, argv, &state)) != EOF;) {
    if (letter == 'h') return Error{std::string(kNoHosts)};
    if (letter != 0)
      return Error{"\"" + std::string(argv[state.optind - 1]) +
                   "\": no such option, or its argument is missing"};
    const Result<void> taken = take_long_option(state.index, state.optarg, options);
    if (!taken) return taken.error();
    if (options.wants_help) return options;
  }
  if (state.errors > 0) return Error{"these options do not go together"};
  if (state.nhosts > 0) return Error{std::string(kNoHosts)};
  const Result<void> taken = take_pcp_options(state, options);
  if (!taken) return taken.error();
  for (int i = state.optind; i < argc; ++i) options.archives.emplace_back(argv[i]);
  return options;
}

const char* const kReportUsage =
    R"(Usage: pcp-trace report [OPTION...] [ARCHIVE|FOLDER...]

Shows what was recorded: of each tag how often, how long and how it failed.
Several archives are put together. Without a name: the newest recording
here. Archives may be those of `pcp-trace record` or of any pmlogger that has
logged "trace", of our agent or PCP's own.

  --html FILE         a page to look at with a browser, in one file
  --json              all tags, and all that is known of them, as JSON
  --compare BASE      beside an older run; BASE is an archive or a folder
  --fail-if CONDITION end with status 1 if it is true; may be repeated
  --help

  -S, --start TIME    from then on; -T, --finish TIME: up to then
  -O, --origin TIME   as in PCPIntro(1), like -S; -A, --align TIME
  -a, --archive NAME  like a name without -a
  -z, --hostzone      times of the recorded host
  -Z, --timezone TZ   times of this time zone

A CONDITION is 'TAG WHAT OP NUMBER[UNIT]':
  TAG   a pattern as of a shell (* ? [...]), or a tag as it is in double quotes
  WHAT  count, rate, failed, failed%, vanished (open when their program ended),
        mean, p50, p90, p95, p99, p999, max
  OP    < <= > >= == !=
  UNIT  ns, us, ms, s or min for times of transactions; without one mean,
        percentiles and max are those of observed values

Signs: - unknown; > or more; busy: how many were under way, on average.

Status: 0 done, and no condition is true; 1 a condition is true; 2 wrong usage,
an archive that cannot be read, or a condition that cannot be decided.

Examples:
  pcp-trace report
  pcp-trace report --html page.html shop1.trace shop2.trace
  pcp-trace report --compare before.trace after.trace
  pcp-trace report --fail-if '* p99 > 50ms' --fail-if 'checkout failed% > 0.1'
  pcp-trace report -S @10:00 -T @10:05 /var/log/pcp/pmlogger/web/20261122
  pcp-trace report --json | jq '.tags[] | {name, p99}'
)";

}  // namespace pcp::trace::command
