// SPDX-License-Identifier: LGPL-2.1-or-later
#include "agent/agent.hpp"

// Not in pmapi.h: the debug options as one number, which trace.control.debug has always shown.
#include <pcp/deprecated.h>

#include <cstdlib>
#include <utility>

#include "metrics/copy_in_slices.hpp"
#include "metrics/instance_answer.hpp"
#include "metrics/label_budget.hpp"
#include "metrics/label_sets.hpp"
#include "metrics/own_labels.hpp"

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

}  // namespace

Agent::Agent(Settings settings, Privileges privileges, Shared& shared, Time now)
    : settings_(std::move(settings)),
      privileges_(std::move(privileges)),
      shared_(shared),
      started_(now),
      table_(metric_table(settings_.units)),
      tags_{TagInstances(TraceType::Transact), TagInstances(TraceType::Point),
            TagInstances(TraceType::Observe), TagInstances(TraceType::Counter)},
      fetcher_(table_, settings_.domain, shared, clients_, [this](Time at) { return status(at); }) {
  if (!settings_.debug.empty()) static_cast<void>(debug_.replace(settings_.debug));
}

pmResult* Agent::fetch(const pmID* pmids, std::size_t count, const pmProfile* profile, Time now) {
  return fetcher_.fetch(pmids, count, profile, now);
}

AgentStatus Agent::status(Time now) const {
  AgentStatus status(shared_.counters);
  {
    const std::lock_guard lock(shared_.mutex);
    status.engine = shared_.engine.counters();
    status.options = shared_.engine.options();
  }
  status.port = settings_.port;
  status.debug_bits = pmDebug;
  status.debug_options = debug_.text();
  status.uptime_s = std::chrono::duration<double>(now - started_).count();
  status.main_cpu_ns = cpu_ns_of_this_thread();
  status.resident_bytes = resident_bytes();
  status.labels_left_out = labels_left_out_;
  return status;
}

int Agent::instances(pmInDom indom, int number, const char* name, pmInResult** result, Time now) {
  const unsigned serial = pmInDom_serial(indom);
  if (serial == kClientIndom) {
    clients_.refresh(shared_, now);
    return answer_instances(clients_, indom, number, name, result);
  }
  if (serial >= tags_.size()) return PM_ERR_INDOM;
  tags_[serial].refresh(shared_);
  return answer_instances(tags_[serial], indom, number, name, result);
}

int Agent::text(int identifier, int type, const char** text) const {
  const Text* found = nullptr;
  if ((type & PM_TEXT_PMID) != 0) {
    const Metric* const metric = fetcher_.find(static_cast<pmID>(identifier));
    if (!metric) return PM_ERR_PMID;
    found = &metric->text;
  } else {
    const unsigned serial = pmInDom_serial(static_cast<pmInDom>(identifier));
    if (serial >= kIndomTexts.size()) return PM_ERR_INDOM;
    found = &kIndomTexts[serial];
  }
  *text = (type & PM_TEXT_ONELINE) != 0 ? found->line : found->full;
  return 0;
}

int Agent::labels(int identifier, int type, pmLabelSet** sets, Time now) {
  if (type == PM_LABEL_DOMAIN) return one_label("agent", "trace", sets);
  if (type != PM_LABEL_INDOM && type != PM_LABEL_INSTANCES) return 0;

  const unsigned serial = pmInDom_serial(static_cast<pmInDom>(identifier));
  if (serial >= kIndomCount) return 0;  // of the metrics that have no instances
  if (type == PM_LABEL_INDOM) return one_label("trace_type", kTraceTypeLabels[serial], sets);
  return serial == kClientIndom ? client_labels(sets, now) : tag_labels(kTraceTypes[serial], sets);
}

// The functions give an instance's number, the agent's own labels, and whose it is, null for
// nobody's.
template <typename Instances, typename NumberOf, typename LabelsOf, typename OriginOf>
int Agent::answer_labels(const Instances& instances, NumberOf number_of, LabelsOf labels_of,
                         OriginOf origin_of, pmLabelSet** sets) {
  const LabelText none;
  LabelBudget budget;
  for (const auto& instance : instances) {
    if (const Origin* const origin = origin_of(instance)) budget.want(*origin);
  }
  budget.share_out();
  LabelSets labels(instances.size());
  for (const auto& instance : instances) {
    const Origin* const origin = origin_of(instance);
    const bool shown = origin && budget.takes(*origin);
    labels.add(static_cast<unsigned>(number_of(instance)), labels_of(instance),
               shown ? origin->labels : none);
  }
  labels_left_out_ += budget.left_out();
  return labels.release(sets);
}

int Agent::tag_labels(TraceType type, pmLabelSet** sets) {
  std::vector<InstanceName> instances;
  copy_in_slices<InstanceName>(
      shared_,
      [&](const Engine& engine, std::size_t max, std::vector<InstanceName>& out) {
        engine.instances(type, instances.size(), max, out);
      },
      [&](InstanceName&& instance) { instances.push_back(std::move(instance)); });
  return answer_labels(
      instances, [](const InstanceName& tag) { return tag.instance; },
      [](const InstanceName& tag) { return labels_of_tag(tag.tag); },
      [](const InstanceName& tag) { return tag.origin.get(); }, sets);
}

int Agent::client_labels(pmLabelSet** sets, Time now) {
  clients_.refresh(shared_, now);
  return answer_labels(
      clients_.all(), [](const ClientInstance& client) { return client.number; },
      [](const ClientInstance& client) { return labels_of_process(client.view); },
      [](const ClientInstance& client) { return client.view.origin.get(); }, sets);
}

bool Agent::labels_changed() {
  const std::uint64_t changes = shared_.engine.changes();
  return std::exchange(labelled_, changes) != changes;
}

int Agent::store(const pmResult& values, int context, Time now) {
  for (int i = 0; i < values.numpmid; ++i) {
    const int status = store(*values.vset[i], context, now);
    if (status < 0) return status;
  }
  return 0;
}

int Agent::store(const pmValueSet& values, int context, Time now) {
  const Metric* const metric = fetcher_.find(values.pmid);
  if (!metric) return PM_ERR_PMID;
  if (metric->store == Store::Refused || !privileges_.may_store(context)) return PM_ERR_PERMISSION;
  if (values.numval != 1) return PM_ERR_BADSTORE;
  if (metric->store != Store::Reset) return store_debug(values, metric->type());

  const std::lock_guard lock(shared_.mutex);
  shared_.engine.reset(now);
  return 0;
}

int Agent::store_debug(const pmValueSet& values, int type) {
  pmAtomValue atom{};
  const int status = pmExtractValue(values.valfmt, &values.vlist[0], type, &atom, type);
  if (status < 0) return status;
  std::string options;
  if (type == PM_TYPE_STRING) {
    options = atom.cp;
    std::free(atom.cp);
  } else {
    options = std::to_string(atom.l);
  }
  return debug_.replace(options) ? 0 : PM_ERR_CONV;
}

}  // namespace pcp::trace::agent
