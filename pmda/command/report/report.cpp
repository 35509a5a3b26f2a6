// SPDX-License-Identifier: LGPL-2.1-or-later
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "command/pcp/guarded_reading.hpp"
#include "command/replace_file.hpp"
#include "command/report/report_input.hpp"
#include "command/report/report_options.hpp"
#include "command/run/archive_reader.hpp"
#include "command/show/comparison.hpp"
#include "command/show/condition.hpp"
#include "command/show/host_table.hpp"
#include "command/show/junit.hpp"
#include "command/show/markdown.hpp"
#include "command/show/model_json.hpp"
#include "command/show/page/page.hpp"
#include "command/show/shown.hpp"
#include "command/show/summary.hpp"
#include "command/show/waterfall.hpp"
#include "command/words.hpp"

namespace pcp::trace::command {

namespace {

enum Status { kPassed = 0, kTrue = 1, kCannotTell = 2 };

using Findings = std::vector<Condition::Finding>;

int give_up(const std::string& why) {
  complain("report", why);
  return kCannotTell;
}

// The run, and its comparison with an older one.
struct Report {
  Model model;
  std::optional<Comparison> comparison;  // refers to the model
};

Condition::Finding unknown(const std::string& why) {
  return {Condition::Outcome::Unknown, "unknown: " + why, "the recording"};
}

Findings check(const std::vector<Condition>& conditions, const Report& report) {
  const auto& [run, comparison] = report;
  if (conditions.empty()) return {};
  Findings all;
  for (const Incomplete& each : run.run.incomplete)
    all.push_back(unknown(printed_name(each.archive) + " may lack calls: " + each.why));
  if (run.run.elapsed_s() <= 0)
    return {unknown("only one sample: no duration and no calls can be computed")};
  for (const Condition& condition : conditions) {
    const bool is_complete = run.run.incomplete.empty() &&
                             (!condition.is_relative() || run.base->run.incomplete.empty());
    Findings some = condition.check({run, is_complete, comparison ? &*comparison : nullptr});
    std::move(some.begin(), some.end(), std::back_inserter(all));
  }
  return all;
}

bool has(const Findings& findings, Condition::Outcome outcome) {
  return std::any_of(findings.begin(), findings.end(),
                     [outcome](const auto& finding) { return finding.outcome == outcome; });
}

// A true condition outweighs an unknown one.
int status_of(const Findings& findings) {
  if (has(findings, Condition::Outcome::True)) return kTrue;
  return has(findings, Condition::Outcome::Unknown) ? kCannotTell : kPassed;
}

void print(const Findings& findings, std::ostream& out) {
  for (const Condition::Finding& finding : in_short(findings)) out << finding.line << '\n';
}

Result<void> read(const ReportOptions& options, Report& report) {
  const Result<ReadRequest> request = make_request(options);
  if (!request) return request.error();
  const bool needs_series = !options.page.empty() || !options.base.empty();
  Result<Model> model = read_model(*request, needs_series);
  if (!model) return model.error();
  report.model = *std::move(model);
  Result<std::optional<Comparison>> comparison = compare_runs(options, *request, report.model);
  if (!comparison) return comparison.error();
  report.comparison = *std::move(comparison);
  return {};
}

void show(const Report& report, const ReportOptions& options, const Findings& findings) {
  const auto& [model, comparison] = report;
  if (options.is_json) {
    std::cerr << incompleteness(model.run, Shown(terminal_of(STDERR_FILENO)));
    std::cout << report_json(model, findings, comparison ? &*comparison : nullptr);
    return print(findings, std::cerr);
  }
  if (options.is_markdown) {
    std::cout << (comparison ? markdown(*model.base, model, *comparison, findings)
                             : markdown(model, findings));
    return;
  }
  const Terminal terminal = terminal_of(STDOUT_FILENO);
  if (model.spans) std::cout << died_lines(*model.spans, model.run.archives, Shown(terminal));
  if (comparison)
    std::cout << shown_comparison(*model.base, model, *comparison, terminal)
              << page_line(options.page, Shown(terminal));
  else
    std::cout << summary(model, options.page, terminal, options.table);
  std::cout << host_table(model.host_values, Shown(terminal));
  if (model.spans)
    std::cout << "\n" << span_summary(*model.spans, model.run.archives, Shown(terminal));
  print(findings, std::cout);
}

Result<void> write_junit(const ReportOptions& options, const Findings& findings) {
  if (options.junit.empty()) return {};
  const Result<void> written = replace_file(options.junit, junit(findings));
  if (!written)
    return Error{options.junit + ": cannot write the JUnit report: " + written.error().message};
  return {};
}

int run(const ReportOptions& options) {
  Report report;
  if (const Result<void> done = read(options, report); !done) {
    // An error of the JUnit file matters less than this error.
    (void)write_junit(options, {unknown(done.error().message)});
    return give_up(done.error().message);
  }
  const Findings findings = check(options.conditions, report);
  if (!options.page.empty()) {
    const Result<void> written =
        write_page(report.model, options.page, report.comparison ? &*report.comparison : nullptr);
    if (!written) return give_up(written.error().message);
  }
  show(report, options, findings);
  if (!std::cout.flush()) return give_up("the report could not be written to standard output");
  if (const Result<void> written = write_junit(options, findings); !written)
    return give_up(written.error().message);
  if (options.choice.leaves_out() && report.model.tags.empty()) return kCannotTell;
  return status_of(findings);
}

}  // namespace

int report(int argc, char* const* argv) {
  const Result<ReportOptions> options = parse_report_options(argc, argv);
  if (!options) return give_up(options.error().message + " (pcp-trace report --help)");
  if (options->wants_help) {
    std::cout << report_usage();
    return kPassed;
  }
  // If this report does not come to its end, no older file may say that all is well.
  const Result<void> written = write_junit(*options, {unknown("the report has not ended")});
  if (!written) return give_up(written.error().message);
  return guarded("report", kCannotTell, [&] { return run(*options); });
}

}  // namespace pcp::trace::command
