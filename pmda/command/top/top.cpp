// SPDX-License-Identifier: LGPL-2.1-or-later
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <iostream>
#include <limits>

#include "base/descriptor.hpp"
#include "command/interruption.hpp"
#include "command/pcp/archive_source.hpp"
#include "command/pcp/guarded_reading.hpp"
#include "command/pcp/pcp_host.hpp"
#include "command/pcp/recording_folder.hpp"
#include "command/top/top_view.hpp"
#include "command/words.hpp"

namespace pcp::trace::command {

namespace {

enum TopStatus { kTopDone = 0, kNoAgent = 1, kTopWrongUsage = 2 };

constexpr Duration kCheckHosts = std::chrono::milliseconds(500);

int fail(const Error& why) {
  complain("top", why.message);
  return kTopWrongUsage;
}

// Reads the archive once in a child, since PCP's library does not survive each damage.
int check_archive(const std::string& path) {
  return guarded("top", kTopWrongUsage, [&]() -> int {
    Result<ArchiveSource> source = ArchiveSource::open(path);
    if (!source) return fail(source.error());
    for (RecentTags tags(*source, false); !tags.is_over();)
      if (const auto read = tags.next(); !read) return fail(read.error());
    if (const std::string why = source->why_incomplete(); !why.empty())
      complain("top", printed_name(path) + ": " + why);
    return kTopDone;
  });
}

int print(const TopOptions& options, Interruption& interruption) {
  const Shown shown(terminal_of(STDOUT_FILENO));
  const std::size_t most = options.lines.value_or(std::numeric_limits<std::size_t>::max());
  TagFeed feed(options);
  std::vector<std::string> told;
  std::uint64_t left = options.samples.value_or(0);
  while (!interruption.comes_before(steady_now() + kCheckHosts, feed.descriptor())) {
    const std::optional<Recent> recent = feed.take();
    std::vector<std::string> troubles = feed.troubles();
    for (const std::string& each : troubles)
      if (std::ranges::find(told, each) == told.end()) complain("top", each);
    told = std::move(troubles);
    if (recent) {
      const std::string text = options.is_json ? recent_json(*recent, options.choice, most)
                                               : recent_text(*recent, options.choice, most, shown);
      const int error = write_all(STDOUT_FILENO, text);
      if (error != 0 && error != EPIPE)  // the reader may have left, like `| head`
        return fail({std::string("cannot write: ") + std::strerror(error)});
      if (error != 0 || --left == 0) return kTopDone;
    }
    if (feed.is_over()) break;
  }
  return feed.has_worked() ? kTopDone : kNoAgent;
}

int view(const TopOptions& options, Interruption& interruption) {
  const Result<std::unique_ptr<Screen>> screen = Screen::open();
  if (!screen) return fail(screen.error());
  TagFeed feed(options);
  view_tags(**screen, options, feed, interruption);
  return kTopDone;
}

}  // namespace

int top(int argc, char* const* argv) {
  Result<TopOptions> options = parse_top_options(argc, argv);
  if (!options) return fail({options.error().message + " (pcp-trace top --help)"});
  if (options->wants_help) {
    std::cout << top_usage();
    return kTopDone;
  }
  std::signal(SIGPIPE, SIG_IGN);
  settle_environment();
  const bool is_text = options->is_json || options->lines || ::isatty(STDOUT_FILENO) == 0 ||
                       ::isatty(STDIN_FILENO) == 0;
  if (options->archive) {
    const Result<std::string> path = find_archive(*options->archive);
    if (!path) return fail(path.error());
    if (const int checked = check_archive(*path); checked != kTopDone) return checked;
    options->archive = *path;
    if (is_text) options->interval = Duration::zero();  // all at once
  }
  Interruption interruption;
  if (options->duration) interruption.come_at(steady_now() + *options->duration);
  return is_text ? print(*options, interruption) : view(*options, interruption);
}

}  // namespace pcp::trace::command
