// SPDX-License-Identifier: LGPL-2.1-or-later
#include "metrics/metrics.hpp"

#include <unistd.h>

#include <fstream>
#include <utility>

#include "base/clock.hpp"
#include "metrics/label_budget.hpp"
#include "metrics/label_sets.hpp"

namespace pcp::trace::agent {

namespace {

constexpr std::array<const char*, kIndomCount> kTraceTypeLabels{"transact", "point", "observe",
                                                                "counter", "process"};

int one_label(const char* name, const char* value, pmLabelSet** sets) {
  LabelText label;
  label.add(name, value);
  LabelSets labels(1);
  labels.add(PM_IN_NULL, label);
  return labels.release(sets);
}

// The facts about an instance that its labels are made from.
struct LabelFacts {
  int number;
  std::size_t labels;       // bytes of its own labels, without the one that all instances have
  std::size_t description;  // bytes
  const Origin* origin;     // null if none
  LabelText::Set kept;      // of the origin's labels
  bool shows_labels = true;
};

std::uint64_t resident_bytes() {
  std::uint64_t total_pages = 0;
  std::uint64_t resident_pages = 0;
  std::ifstream("/proc/self/statm") >> total_pages >> resident_pages;
  return resident_pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

const Origin kNobody;

const Origin& origin_of(const LabelFacts& facts) { return facts.origin ? *facts.origin : kNobody; }

std::size_t bytes_of_labels(const LabelFacts& facts) {
  return facts.labels + (facts.origin && facts.kept != 0 ? bytes_of_labels(*facts.origin) : 0);
}

// Decides which labels have room. Descriptions get the remaining room.
LabelBudget share_out_room(std::vector<LabelFacts>& instances) {
  LabelBudget labels;
  for (const LabelFacts& each : instances)
    if (bytes_of_labels(each) != 0) labels.want(origin_of(each), bytes_of_labels(each));
  labels.share_out();
  for (LabelFacts& each : instances)
    if (bytes_of_labels(each) != 0)
      each.shows_labels = labels.takes(origin_of(each), bytes_of_labels(each));
  return labels;
}

// An instance's own labels override its program's labels of the same name.
void add_labels(LabelSets& sets, int instance, const LabelText& own, const LabelText& common,
                LabelText::Set kept) {
  const LabelText::Set shown = kept & common.not_named_in(own);
  const bool is_whole = shown == common.all();
  sets.add(static_cast<unsigned>(instance), own, is_whole ? common : common.part(shown));
}

}  // namespace

Metrics::Metrics(const Settings& settings, Reader reader, Instant now)
    : reader_(reader),
      port_(settings.port),
      stable_labels_(settings.stable_labels),
      started_(now),
      table_(metric_table(settings.units)),
      tags_{TagInstances(TraceType::Transact), TagInstances(TraceType::Point),
            TagInstances(TraceType::Observe), TagInstances(TraceType::Counter)},
      fetcher_(table_, settings.domain, reader, clients_,
               [this](Instant at) { return status(at); }) {}

pmapi::AgentResult* Metrics::fetch(const pmID* pmids, std::size_t count, const pmProfile* profile,
                                   Instant now) {
  return fetcher_.fetch(pmids, count, profile, now);
}

AgentStatus Metrics::status(Instant now) const {
  AgentStatus status(reader_.ingest_counters());
  status.engine = reader_.engine_counters();
  status.options = reader_.engine_options();
  status.port = port_;
  status.shown_debug = pmapi::debug_options();
  status.debug_options = debug_.text();
  status.uptime_s = std::chrono::duration<double>(now - started_).count();
  const auto since_1970_s = [this](Instant time) {
    return std::chrono::duration<double>(reader_.wall_time(time).time_since_epoch()).count();
  };
  status.started_s = since_1970_s(started_);
  status.reset_s = since_1970_s(reader_.begin_of_life());
  status.main_cpu_ns = thread_cpu_ns();
  status.resident_bytes = resident_bytes();
  status.labels_left_out = labels_left_out_;
  status.histograms_left_out = fetcher_.histograms_left_out();
  status.spans = reader_.span_totals();
  if (desk_ != nullptr) status.span_controls = desk_->controls();
  status.span_desk = desk_;
  return status;
}

int Metrics::instances(pmInDom indom, int number, const char* name, pmInResult** result,
                       Instant now) {
  const unsigned serial = pmInDom_serial(indom);
  if (serial == kClientIndom) {
    clients_.refresh(reader_, now);
    return answer_instances(clients_, indom, number, name, result);
  }
  if (serial >= tags_.size()) return PM_ERR_INDOM;
  tags_[serial].refresh(reader_);
  return answer_instances(tags_[serial], indom, number, name, result);
}

int Metrics::text(int identifier, int type, const char** text) const {
  const bool is_of_metric = (type & PM_TEXT_PMID) != 0;
  const Metric* const metric = is_of_metric ? find(static_cast<pmID>(identifier)) : nullptr;
  if (is_of_metric && metric == nullptr) return PM_ERR_PMID;
  const unsigned serial = pmInDom_serial(static_cast<pmInDom>(identifier));
  const Help* const help = find_help(is_of_metric ? metric->name : "10." + std::to_string(serial));
  if (help == nullptr) return is_of_metric ? PM_ERR_TEXT : PM_ERR_INDOM;
  *text = ((type & PM_TEXT_ONELINE) != 0 ? help->line : help->full).c_str();
  return 0;
}

int Metrics::labels(int identifier, int type, pmLabelSet** sets, Instant now) {
  if (type == PM_LABEL_DOMAIN) return one_label("agent", "trace", sets);
  if (type != PM_LABEL_INDOM && type != PM_LABEL_INSTANCES) return 0;

  const unsigned serial = pmInDom_serial(static_cast<pmInDom>(identifier));
  if (serial >= kIndomCount) return 0;  // for metrics without instances
  if (type == PM_LABEL_INDOM) return one_label("trace_type", kTraceTypeLabels[serial], sets);
  return serial == kClientIndom ? client_labels(sets, now) : tag_labels(kTraceTypes[serial], sets);
}

// `facts_of` gives an instance's facts; `labels_of` gives the agent's labels that have room.
template <typename Instances, typename FactsOf, typename LabelsOf>
int Metrics::answer_labels(const Instances& instances, FactsOf facts_of, LabelsOf labels_of,
                           pmLabelSet** sets) {
  std::vector<LabelFacts> all;
  all.reserve(instances.size());
  for (const auto& instance : instances) all.push_back(facts_of(instance));
  const LabelBudget labels = share_out_room(all);
  LabelBudget descriptions(labels.left());
  for (const LabelFacts& each : all)
    if (each.description != 0) descriptions.want(origin_of(each), each.description);
  descriptions.share_out();

  LabelSets answer(instances.size());
  auto facts = all.begin();
  for (const auto& instance : instances) {
    const bool is_described =
        facts->description != 0 && descriptions.takes(origin_of(*facts), facts->description);
    add_labels(answer, facts->number, labels_of(instance, facts->shows_labels, is_described),
               (facts->shows_labels ? origin_of(*facts) : kNobody).labels, facts->kept);
    ++facts;
  }
  labels_left_out_ += labels.left_out() + descriptions.left_out();
  return answer.release(sets);
}

int Metrics::tag_labels(TraceType type, pmLabelSet** sets) {
  std::vector<InstanceName> instances;
  reader_.instances(type, 0, [&](InstanceName&& each) { instances.push_back(std::move(each)); });
  return answer_labels(
      instances,
      [this](const InstanceName& tag) {
        return LabelFacts{tag.instance, bytes_of_labels(tag),
                          stable_labels_ ? 0 : bytes_of_description(tag), tag.origin.get(),
                          stable_labels_ ? 0 : tag.labels_kept};
      },
      [](const InstanceName& tag, bool shows_labels, bool shows_description) {
        return labels_of_tag(tag, shows_labels, shows_description);
      },
      sets);
}

int Metrics::client_labels(pmLabelSet** sets, Instant now) {
  clients_.refresh(reader_, now);
  return answer_labels(
      clients_.all(),
      [](const ClientInstance& client) {
        return LabelFacts{client.number, 0, 0, client.view.origin.get(), LabelText::kAll};
      },
      [](const ClientInstance& client, bool, bool) { return labels_of_process(client.view); },
      sets);
}

bool Metrics::labels_changed() {
  const std::uint64_t changes = reader_.changes();
  return std::exchange(labelled_, changes) != changes;
}

}  // namespace pcp::trace::agent
