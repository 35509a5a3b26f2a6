// SPDX-License-Identifier: LGPL-2.1-or-later
// The command line of pmdatrace, a word in each line: accepted options are within the limits of the
// manual.
#include <sys/un.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "agent/agent_options.hpp"
#include "fuzz/input.hpp"
#include "metrics/pmapi.hpp"
#include "support/command_line.hpp"
#include "wire/dimensions.hpp"

using namespace pcp::trace;
using fuzz::Input;
using fuzz::require;

namespace {

using namespace pcp::trace::agent;
using namespace std::chrono_literals;

constexpr std::size_t kMostWords = 15;

// The same on every machine, and without PCP's messages on the screen.
[[maybe_unused]] const bool kPrepared =
    setenv("PCP_RUN_DIR", "/run/pcp", 1) == 0 && setenv("PCP_STDERR", "/dev/null", 1) == 0;

void check(const pmUnits& units) {
  require(units.scaleSpace <= PM_SPACE_YBYTE && units.scaleTime <= PM_TIME_HOUR);
}

void check(const AgentOptions& options) {
  require(options.domain >= 1 && options.domain <= 510);
  require(options.port > 0);
  require(options.engine.buckets >= 1 && options.engine.buckets <= 1000);
  require(options.engine.period > 0s && options.engine.period <= 366 * 24h);
  require(options.engine.period / options.engine.buckets >= 1ms);
  require(options.engine.max_tags >= 1 && options.engine.max_tags <= 10'000'000);
  require(options.engine.max_cumulative_bytes >= 1u << 20 &&
          options.engine.max_cumulative_bytes <= std::size_t{1} << 40);
  require(options.socket_path.size() < sizeof(sockaddr_un::sun_path));
  require(std::all_of(options.split.begin(), options.split.end(), pcp::trace::is_dimension_key));
  check(options.units.observation);
  check(options.units.counter);
}

}  // namespace

void fuzz::run(Input input) {
  std::vector<std::string> words;
  while (!input.empty() && words.size() < kMostWords) words.push_back(input.c_line());

  const CommandLine line = parse_words(parse_options, words);
  pmClearDebug("all");  // resets the flags of -D
  pmflush();
  if (line.status && line.wanted == CommandLine::Wanted::Agent) check(line.options);
}
