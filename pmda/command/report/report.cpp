// SPDX-License-Identifier: LGPL-2.1-or-later
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "command/pcp/guarded_reading.hpp"
#include "command/pcp/recording_folder.hpp"
#include "command/report/report_input.hpp"
#include "command/report/report_options.hpp"
#include "command/run/archive_reader.hpp"
#include "command/show/condition.hpp"
#include "command/show/model_json.hpp"
#include "command/show/page/page.hpp"
#include "command/show/shown.hpp"
#include "command/show/summary.hpp"
#include "command/show/waterfall.hpp"
#include "command/words.hpp"

namespace pcp::trace::command {

namespace {

enum Status { kPassed = 0, kBroken = 1, kCannotTell = 2 };

using Findings = std::vector<Condition::Finding>;

int give_up(const std::string& why) {
  complain("report", why);
  return kCannotTell;
}

Result<std::optional<Totals>> read_base(const ReportOptions& options) {
  if (options.base.empty()) return std::optional<Totals>();
  Result<std::string> archive = find_archive(options.base);
  if (!archive) return archive.error();
  Result<Totals> totals =
      read_totals({{*std::move(archive)}, {}, options.time_zone, options.choice});
  if (!totals) return totals.error();
  return std::optional(*std::move(totals));
}

Findings check(const std::vector<Condition>& conditions, const Totals& run) {
  if (conditions.empty()) return {};
  Findings all;
  for (const Incomplete& each : run.run.incomplete)
    all.push_back(
        {Condition::Outcome::Unknown, "unknown: " + each.archive + " may lack calls: " + each.why});
  if (run.run.elapsed_s() <= 0)
    return {{Condition::Outcome::Unknown, "unknown: one sample tells of no time, and of no calls"}};
  for (const Condition& condition : conditions) {
    Findings some = condition.check(run.tags, run.run.incomplete.empty());
    std::move(some.begin(), some.end(), std::back_inserter(all));
  }
  return all;
}

bool has(const Findings& findings, Condition::Outcome outcome) {
  return std::any_of(findings.begin(), findings.end(),
                     [outcome](const auto& finding) { return finding.outcome == outcome; });
}

// A broken condition outweighs an unknown one.
int status_of(const Findings& findings) {
  if (has(findings, Condition::Outcome::Broken)) return kBroken;
  return has(findings, Condition::Outcome::Unknown) ? kCannotTell : kPassed;
}

void print(const Findings& findings, std::ostream& out) {
  for (const Condition::Finding& finding : findings)
    if (finding.outcome != Condition::Outcome::Passed) out << finding.line << '\n';
}

Result<Model> read(const ReportOptions& options) {
  const Result<ReadRequest> request = make_request(options);
  if (!request) return request.error();
  Result<Model> model = read_model(*request, !options.page.empty());
  if (!model) return model;
  Result<std::optional<Totals>> base = read_base(options);
  if (!base) return base.error();
  if (*base && is_among(request->archives, (*base)->run.archives.front()))
    return Error{options.base + ": is the run itself; name the one to compare with it"};
  model->base = *std::move(base);
  return model;
}

void show(const Model& model, const ReportOptions& options, const Findings& findings) {
  if (options.is_json) {
    std::cerr << incompleteness(model.run, Shown(terminal_of(STDERR_FILENO)));
    std::cout << report_json(model, findings);
    return print(findings, std::cerr);
  }
  const Terminal terminal = terminal_of(STDOUT_FILENO);
  if (model.base)
    std::cout << comparison(*model.base, model, terminal);
  else
    std::cout << summary(model, options.page, terminal, options.table);
  if (model.spans) std::cout << "\n" << span_summary(*model.spans, Shown(terminal));
  print(findings, std::cout);
}

int run(const ReportOptions& options) {
  const Result<Model> model = read(options);
  if (!model) return give_up(model.error().message);
  const Findings findings = check(options.conditions, *model);
  if (!options.page.empty()) {
    const Result<void> written = write_page(*model, options.page);
    if (!written) return give_up(written.error().message);
  }
  show(*model, options, findings);
  if (!std::cout.flush()) return give_up("what was to be shown could not be written");
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
  return guarded("report", kCannotTell, [&] { return run(*options); });
}

}  // namespace pcp::trace::command
