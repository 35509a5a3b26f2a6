// SPDX-License-Identifier: LGPL-2.1-or-later
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.hpp"
#include "base/descriptor.hpp"
#include "base/heap.hpp"
#include "command/arguments.hpp"
#include "command/interruption.hpp"
#include "command/pcp/pcp_host.hpp"
#include "command/record/host_agent.hpp"
#include "command/record/host_metrics.hpp"
#include "command/record/job.hpp"
#include "command/record/private_agent.hpp"
#include "command/record/record_options.hpp"
#include "command/record/recording.hpp"
#include "command/run/archive_reader.hpp"
#include "command/show/explanation.hpp"
#include "command/show/host_table.hpp"
#include "command/show/model_json.hpp"
#include "command/show/page/page.hpp"
#include "command/show/summary.hpp"
#include "command/show/waterfall.hpp"
#include "command/show/why_slow.hpp"
#include "command/words.hpp"

namespace pcp::trace::command {

namespace {

constexpr int kOwnFailure = 125;

// How long to wait after the program's end for data of other processes that it started.
constexpr Duration kPatience = std::chrono::seconds(2);
constexpr Duration kLook = std::chrono::milliseconds(5);  // between two checks
constexpr Duration kLaterLook = std::chrono::milliseconds(100);

int fail(const std::string& why) {
  complain("record", why);
  return kOwnFailure;
}

std::string this_host() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

agent::LabelText labels_of_run(const RecordOptions& options) {
  constexpr std::size_t kMostBytes = 1000;
  agent::LabelText labels;
  labels.add("hostname", this_host());
  labels.add("command", joined(options.command), kMostBytes);
  if (!options.spans.empty()) labels.add("spans", options.typed_spans, kMostBytes);
  return labels;
}

void record_until_end(Child& child, PrivateAgent& own, Recording& recording, bool waits) {
  while (!child.wait_until(recording.next())) static_cast<void>(recording.take_next());
  const Instant end = steady_now();
  // Processes first, then their data.
  while ((child.has_descendants() || !own.is_quiet()) &&
         (waits || steady_now() < end + kPatience)) {
    const Instant now = steady_now();
    if (now >= recording.next()) static_cast<void>(recording.take_next());
    if (child.is_interrupted_before(now + (now < end + kPatience ? kLook : kLaterLook))) break;
  }
  own.stop();
}

// A reader that left early, like `| head`, is no error.
Result<void> print(int descriptor, const std::string& text) {
  const int error = write_all(descriptor, text);
  if (error == 0 || error == EPIPE) return {};
  return Error{std::string("cannot write the summary: ") + std::strerror(error)};
}

// The help for an error. Words of a filter belong to another command.
const char* help_for(const Error& error) {
  return error.message.starts_with("--spans: ") ? " (pcp-trace spans --help)"
                                                : " (pcp-trace record --help)";
}

// Standard output belongs to the program, so the summary goes to standard error.
Result<void> show(const RecordingFolder& folder, const RecordOptions& options) {
  const Result<Model> model = read_model({{folder.archive()}, {}, {}});
  if (!model) return model.error();
  const std::string page = options.page.empty() ? folder.page() : options.page;
  if (Result<void> written = write_page(*model, page); !written) return written;
  if (options.is_json) return print(STDOUT_FILENO, report_json(*model));
  if (options.is_quiet) return {};
  const Terminal terminal = terminal_of(STDERR_FILENO);
  const Shown shown(terminal);
  std::string text = model->spans ? died_lines(*model->spans, {folder.path()}, shown) : "";
  text += summary(*model, page, terminal) + host_table(model->host_values, shown);
  if (model->spans) {
    text += span_counts(*model->spans, shown);
    text += why_slow(*model->spans, shown, 1);
    text += slowest_trees(*model->spans, shown,
                          "more of them: pcp-trace report " + printed_name(folder.path()) + "\n");
    if (model->spans->traces == 0 && model->spans->missed == 0)
      text += unmatched_filter(options.spans, model->tags, shown);
  }
  return print(STDERR_FILENO, text);
}

// Returns the exit status. `also`: null: none.
int conclude(const Result<void>& finished, const Recording& recording, const RecordOptions& options,
             const HostMetrics* also) {
  std::signal(SIGPIPE, SIG_IGN);  // the next output may have no reader
  std::cerr << collectors_log();
  Result<void> shown;
  try {
    shown = show(recording.folder(), options);  // existing data, even if incomplete
  } catch (const std::exception& fault) {       // changes no status: all is recorded
    complain_of_fault("record", fault);
  }
  if (const std::uint64_t count = recording.events_left_out(); count > 0)
    std::cerr << "pcp-trace record: " << count
              << " spans left out: an archive has room for 128 MiB of them; share= and limit= make"
                 " them fewer\n";
  if (const std::string missing = also == nullptr ? "" : also->what_is_missing(); !missing.empty())
    complain("record", "--also: " + missing);
  if (!finished) return fail("the recording has ended too early: " + finished.error().message);
  if (!shown) return fail(shown.error().message);
  return 0;
}

// Empty unless a signal ended the program.
std::string signal_of(const Child& child) {
  const int signal = child.ending_signal();
  if (signal == 0) return "";
  return "ended by signal " + std::to_string(signal) + ": " + ::strsignal(signal) +
         "; what it had not sent by then is missing";
}

constexpr const char* kStillRun =
    "some of its processes still run, but are no longer recorded (--wait)";

// The most serious reason why calls may be missing; empty if none.
std::string what_is_missing(const PrivateAgent& own, const Child& child, bool is_left_by_some) {
  if (own.has_refused_some()) return own.what_is_missing();
  if (std::string signal = signal_of(child); !signal.empty()) return signal;
  if (std::string missing = own.what_is_missing(); !missing.empty()) return missing;
  if (child.has_lost_orphans())
    return "a signal ended one of its processes, which may not have sent all calls";
  return is_left_by_some ? kStillRun : "";
}

void say_what_is_not_recorded() {
  const std::string elsewhere = what_of_the_job_is_elsewhere(::getenv);
  if (elsewhere.empty()) return;
  complain("record", elsewhere +
                         ", and this recording has this host only: start record on each host, and"
                         " report all folders together (pcp-trace-record(1), Several hosts)");
}

// Null: none are wanted.
Result<std::unique_ptr<HostMetrics>> open_also(const RecordOptions& options,
                                               Interruption* interruption) {
  if (options.also.empty()) return std::unique_ptr<HostMetrics>();
  Result<std::unique_ptr<HostMetrics>> also =
      HostMetrics::open(options.host, options.also, interruption);
  if (!also) return also;
  if (const std::string names = (*also)->left_out(); !names.empty())
    complain("record", "--also: left out: " + names);
  return also;
}

int record_command(const RecordOptions& options) {
  say_what_is_not_recorded();
  std::optional<Child> child(std::in_place);  // before other threads
  const Result<std::unique_ptr<HostMetrics>> also = open_also(options, nullptr);
  if (!also) return fail(also.error().message);
  Result<std::unique_ptr<PrivateAgent>> made = PrivateAgent::create(
      {options.interval, options.spans, options.split, labels_of_run(options)});
  if (!made) return fail(made.error().message);
  PrivateAgent& agent = **made;
  const std::string name = std::filesystem::path(options.command.front()).filename();
  Result<std::unique_ptr<Recording>> recording =
      Recording::begin(options, name, this_host(), agent.begin(), agent, also->get());
  if (!recording) return fail(recording.error().message);
  agent.start();
  if (const int error = child->start(options.command, agent.environment()); error != 0) {
    (*recording)->take_back();
    fail("cannot execute " + options.command.front() + ": " + std::strerror(error) +
         (error == ENOENT ? hint_of_filter(options.command) : ""));
    return Child::status_of_failed_start(error);
  }
  record_until_end(*child, agent, **recording, options.waits);
  const int status_of_program = child->exit_status();
  const std::string signal = signal_of(*child);
  const bool is_left_by_some = child->has_descendants();
  const std::string missing = what_is_missing(agent, *child, is_left_by_some);
  const Result<void> finished = (*recording)->finish(missing);
  child.reset();  // from now on ^C is for us
  int status = conclude(finished, **recording, options, also->get());
  if (agent.has_refused_some()) status = fail(missing + "; some of their calls may be missing");
  if (!options.is_quiet) {
    if (!signal.empty()) std::cerr << signal << '\n';
    if (is_left_by_some) std::cerr << kStillRun << '\n';
  }
  return status_of_program != 0 ? status_of_program : status;
}

int record_host(const RecordOptions& options) {
  settle_environment();
  std::optional<Interruption> interruption(std::in_place);
  Result<std::unique_ptr<HostAgent>> made =
      HostAgent::connect(options.host, options.spans, *interruption);
  if (!made) return fail(made.error().message);
  HostAgent& host = **made;
  const Result<std::unique_ptr<HostMetrics>> also = open_also(options, &*interruption);
  if (!also) return fail(also.error().message);
  const Instant begin = steady_now();
  if (options.duration) interruption->come_at(begin + *options.duration);
  Result<std::unique_ptr<Recording>> begun =
      Recording::begin(options, options.host, host.host_name(), begin, host, also->get());
  if (!begun) return fail(begun.error().message);
  Recording& recording = **begun;
  bool is_there = true;
  while (!interruption->comes_before(recording.next())) {
    const Result<void> read = recording.take_next();
    if (interruption->has_come() || is_there == static_cast<bool>(read)) continue;
    is_there = !is_there;
    complain(
        "record",
        options.host + (is_there ? " is back" : ": " + read.error().message + "; waiting for it"));
  }
  const Result<void> finished = recording.finish(host.what_is_missing());
  interruption.reset();
  return conclude(finished, recording, options, also->get());
}

}  // namespace

int record(int argc, char* const* argv) {
  const Result<RecordOptions> options = parse_record_options(argc, argv);
  if (!options) return fail(options.error().message + help_for(options.error()));
  if (options->wants_help) {
    std::cout << record_usage();
    return 0;
  }
  keep_freed_memory();
  return options->host.empty() ? record_command(*options) : record_host(*options);
}

}  // namespace pcp::trace::command
