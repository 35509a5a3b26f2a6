// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/pcp/archive_source.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "wire/dimensions.hpp"

namespace pcp::trace::command {

namespace {

constexpr std::string_view kOfAgent = "trace.";

bool has_counts(std::string_view before) {
  const auto is_there = [before](const char* count) {
    return lookup((std::string(before) + count).c_str()) != PM_ID_NULL;
  };
  return is_there("transact.count") || is_there("point.count") || is_there("observe.count") ||
         is_there("counter.count");
}

// Gives the beginnings of the names of their metrics.
std::vector<std::string> programs_with_mmv_files() {
  std::vector<std::string> programs;
  char** children = nullptr;
  const int count = pmGetChildren("mmv", &children);
  for (int i = 0; i < count; ++i)
    if (std::string before = std::string("mmv.") + children[i] + '.'; has_counts(before))
      programs.push_back(std::move(before));
  std::free(children);
  std::sort(programs.begin(), programs.end());
  return programs;
}

}  // namespace

Result<ArchiveSource> ArchiveSource::open(const std::string& path) {
  Result<ArchiveContext> context = open_archive(path);
  if (!context) return context.error();
  ArchiveSource source(path, *std::move(context));
  if (const Result<void> found = source.find_bounds(); !found) return found.error();
  if (const Result<void> found = source.find_metrics(); !found) return found.error();
  const OwnedLabels labels = labels_by(pmGetContextLabels);
  if (!labels.all().empty()) {
    source.command_ = label_of(labels.all().front(), "command");
    source.filter_ = label_of(labels.all().front(), "spans");
  }
  if (const int error = source.context_.rewind(); error < 0) return source.failed(pmErrStr(error));
  return source;
}

Result<void> ArchiveSource::find_bounds() {
  pmapi::ArchiveLabelRead label;
  if (const int error = pmapi::get_archive_label(&label); error < 0) return failed(pmErrStr(error));
  timespec end{};
  const int error = pmapi::get_archive_end(&end);
  if (error < 0 && error != PM_ERR_LOGREC)
    return failed(std::string("is damaged: ") + pmErrStr(error));
  time_zone_ = label.timezone;
  begin_ = moment_of(label.start);
  is_cut_ = error == PM_ERR_LOGREC;
  end_ = is_cut_ ? WallTime::max() : moment_of(end);
  return {};
}

Result<void> ArchiveSource::find_metrics() {
  bool has_tags = false;
  // The beginning of the names of an agent's metrics or, without one, of programs with mmv files.
  std::string of_all(kOfAgent);
  if (const std::vector<std::string> programs = programs_with_mmv_files();
      !programs.empty() && !has_counts(kOfAgent)) {
    of_all = programs.front();
    if (programs.size() > 1)
      return failed("has the totals of several names, such as " + programs[0] + "* and " +
                    programs[1] + "*; pmlogextract makes an archive of one");
  }
  for (const RecordedQuantity& what : kRecordedQuantities) {
    Metric metric{what, {}};
    const std::string_view name = what.metric;
    const bool is_of_all = name.starts_with(kOfAgent);
    const pmID id = lookup(
        (is_of_all ? of_all + std::string(name.substr(kOfAgent.size())) : what.metric).c_str());
    if (id == PM_ID_NULL || pmLookupDesc(id, &metric.description) < 0) continue;
    metrics_.emplace(id, metric);
    has_tags |= what.quantity == Quantity::Calls && what.ending == Ending::Completed;
  }
  events_ = lookup(kEventsMetric);
  state_metric_ = lookup(kStateMetric);
  for (const RecordedMetric& each : metrics_of_host()) of_host_.insert(each.description.pmid);
  // Every pmlogger writes this metric, but an archive of one program may lack it.
  is_sparse_ = of_all == kOfAgent && lookup("pmcd.pmlogger.host") == PM_ID_NULL;
  if (has_tags) return {};
  return failed(
      "has no counts of a trace agent. Record with `pcp-trace record`, or let pmlogger log "
      "\"trace\"");
}

std::string ArchiveSource::host() const { return host_name_of(context_.number()); }

std::vector<RecordedMetric> metrics_of_host() {
  std::vector<RecordedMetric> all;
  if (lookup(kStateMetric) == PM_ID_NULL) return all;
  std::vector<std::string> names;
  add_names_below("", names);
  for (std::string& name : names) {
    RecordedMetric metric{std::move(name), {}};
    const pmID id = is_of_trace_agent(metric.name) ? PM_ID_NULL : lookup(metric.name.c_str());
    if (id != PM_ID_NULL && !is_computed(id) && pmLookupDesc(id, &metric.description) >= 0)
      all.push_back(std::move(metric));
  }
  return all;
}

int new_zone(std::string zone) {
  if (const int made = pmNewZone(zone.c_str()); made >= 0) return made;
  for (std::size_t from = 0; (from = zone.find('<', from)) < zone.size(); ++from)
    if (const std::size_t to = zone.find('>', from); to < zone.size())
      zone.replace(from, to + 1 - from, "LOC");
  return pmNewZone(zone.c_str());
}

Result<std::optional<ArchiveSample>> ArchiveSource::next() {
  for (;;) {
    const Result<bool> read = read_record();
    if (!read) return read.error();
    if (!*read) return std::optional<ArchiveSample>();
    if (!is_between_samples()) return std::optional(sorted_sample());
  }
}

Result<void> ArchiveSource::read_to_end() {
  for (;;) {
    const Result<bool> read = read_record();
    if (!read) return read.error();
    if (!*read) return {};
  }
}

// False at the end.
Result<bool> ArchiveSource::read_record() {
  pmUseContext(context_.number());
  pmapi::ArchiveResult* read = nullptr;
  const int error = pmapi::fetch_archive(&read);
  is_cut_ |= error == PM_ERR_LOGREC;
  if (error == PM_ERR_EOL || error == PM_ERR_LOGREC) return false;
  if (error < 0) return failed(std::string("is damaged: ") + pmErrStr(error));
  result_.reset(read);
  note_statement();
  return true;
}

// Such a record has only single transactions, a statement, or metrics of the host.
bool ArchiveSource::is_between_samples() const {
  const auto sets = sets_of(*result_);
  const pmID first = sets.empty() ? PM_ID_NULL : sets.front()->pmid;
  if (first == PM_ID_NULL) return false;
  if (sets.size() == 1 && (first == events_ || first == state_metric_)) return true;
  return std::all_of(sets.begin(), sets.end(),
                     [this](const auto* set) { return of_host_.contains(set->pmid); });
}

// Marks, which PCP's tools may add after the end, are ignored.
void ArchiveSource::note_statement() {
  if (result_->numpmid == 0) return;
  said_before_ = std::exchange(said_, "");
  const pmValueSet& set = *result_->vset[0];
  pmAtomValue text{};
  if (result_->numpmid != 1 || set.pmid != state_metric_ || set.numval != 1 ||
      pmExtractValue(set.valfmt, &set.vlist[0], PM_TYPE_STRING, &text, PM_TYPE_STRING) < 0)
    return;
  said_ = text.cp;
  said_at_ = moment_of(result_->timestamp);
  std::free(text.cp);
}

std::string ArchiveSource::why_incomplete() const {
  if (is_cut_) return "its end is missing";
  if (!is_sparse_ || said_ == kComplete) return "";
  if (said_.empty() || said_ == kBegins || said_ == kHasAll)
    return "it has no end mark: the recording still runs, or record was killed";
  return said_;
}

ArchiveSample ArchiveSource::sorted_sample() const {
  ArchiveSample sample;
  sample.at = moment_of(result_->timestamp);
  sample.is_mark = result_->numpmid == 0;
  if (!sample.is_mark && said_at_ == sample.at) sample.says = said_before_;
  sample.quantities = sorted_values(*result_);
  return sample;
}

Instances ArchiveSource::instances(pmInDom domain, bool ever) const {
  pmUseContext(context_.number());
  Instances names = without_numbers(instances_by(ever ? pmGetInDomArchive : pmGetInDom, domain));
  if (!shown_labels_.empty()) show_labels_in(names, domain);
  return names;
}

void ArchiveSource::show_labels_in(Instances& names, pmInDom domain) const {
  constexpr std::size_t kMostBytes = 4096;
  const OwnedLabels recorded = labels_of_instances(domain);
  std::map<int, const pmLabelSet*> sets;
  for (const pmLabelSet& set : recorded.all()) sets[static_cast<int>(set.inst)] = &set;
  for (auto& [number, name] : names) {
    const auto set = sets.find(number);
    std::vector<std::string> values;
    for (const std::string& key : shown_labels_) {
      values.push_back(set == sets.end() ? "" : label_of(*set->second, key));
      if (values.back().empty() && key == "host") values.back() = host();
    }
    std::vector<DimensionView> labels;
    for (std::size_t i = 0; i < values.size(); ++i)
      if (!values[i].empty()) labels.emplace_back(shown_labels_[i], values[i]);
    if (std::string shown; add_dimensions(shown, name, labels, kMostBytes)) name = std::move(shown);
  }
}

}  // namespace pcp::trace::command
