// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/record/host_agent.hpp"

#include <array>
#include <optional>
#include <utility>

#include "collector/engine/label_text.hpp"
#include "command/pcp/pcp_values.hpp"

namespace pcp::trace::command {

namespace {

// PCP's own agent has only `trace`, without distributions.
constexpr std::array kRoots{"trace", "tracing.histogram"};

constexpr std::array kRootsOfEvents{"tracing.events", "tracing.lapses", "tracing.param"};

std::vector<RecordedMetric> metrics_below_roots(bool with_events) {
  std::vector<std::string> names;
  for (const char* const root : kRoots) add_names_below(root, names);
  if (with_events && !names.empty())
    for (const char* const root : kRootsOfEvents) add_names_below(root, names);
  std::vector<RecordedMetric> all;
  for (const std::string& name : names) {
    RecordedMetric metric{name, {}};
    const pmID id = lookup(name.c_str());
    if (id != PM_ID_NULL && pmLookupDesc(id, &metric.description) >= 0)
      all.push_back(std::move(metric));
  }
  return all;
}

// pmcd's error for the metrics of a missing agent; 0 if any metric is readable.
int why_unknown(const pmResult& result) {
  int why = 0;
  for (const pmValueSet* const set : sets_of(result)) {
    if (set->numval >= 0) return 0;
    why = set->numval;
  }
  return why;
}

// Fetches label sets with PCP's function for their type.
int fetch_labels(unsigned type, unsigned of, pmLabelSet** sets) {
  switch (type) {
    case PM_LABEL_CONTEXT:
      return pmGetContextLabels(sets);
    case PM_LABEL_DOMAIN:
      return pmGetDomainLabels(static_cast<int>(of), sets);
    case PM_LABEL_INDOM:
      return pmGetInDomLabels(of, sets);
    default:
      return pmGetInstancesLabels(of, sets);
  }
}

// The archive's readers learn which single transactions it has, as in the recording of a command.
int with_filter(pmLabelSet** sets, int count, const std::string& filter) {
  constexpr std::size_t kMostBytes = 1000;
  agent::LabelText label;
  if (filter.empty() || !label.add("spans", filter, kMostBytes)) return count;
  if (count <= 0) *sets = nullptr;
  return pmdaAddLabels(sets, "{%s}", label.members().c_str()) < 0 ? count : 1;
}

// Connects, and returns the metrics to record.
Result<std::vector<RecordedMetric>> begin(PcpHost& host, bool with_events) {
  if (const Result<void> connected = host.connect("cannot connect to pmcd on " + host.name());
      !connected)
    return connected.error();
  const auto failure = [&host](const std::string& why) { return Error{host.name() + ": " + why}; };
  std::vector<RecordedMetric> metrics = metrics_below_roots(with_events);
  if (metrics.empty()) {
    const Result<void> found = host.find_agent();
    return failure(found ? "its trace agent has no metrics" : found.error().message);
  }
  if (!with_events) return metrics;
  if (const Result<void> asked = host.ask_for_spans(); !asked)
    return failure(asked.error().message);
  return metrics;
}

Result<OwnedResult> read_values(PcpHost& host, const std::vector<pmID>& metrics) {
  if (const Result<void> connected = host.connect(); !connected) return connected.error();
  Result<OwnedResult> read = host.fetch(metrics);
  if (!read) host.disconnect();
  if (!read) return read;
  if (const int why = why_unknown(**read); why != 0) return pcp_error("the trace agent", why);
  return read;
}

Result<PcpHost::Spans> fetch_spans_of(PcpHost& host) {
  if (!host.is_connected()) return Error{"pmcd has gone"};
  if (host.must_ask_for_spans())
    if (const Result<void> asked = host.ask_for_spans(); !asked) return asked.error();
  return host.fetch_spans();
}

}  // namespace

Result<std::unique_ptr<HostAgent>> HostAgent::connect(const std::string& host,
                                                      const std::string& spans,
                                                      Interruption& interruption) {
  std::unique_ptr<HostAgent> made(new HostAgent(host, spans, interruption));
  auto begun = made->questions_.ask(
      [with_events = !made->spans_.empty()](PcpHost& its) { return begin(its, with_events); });
  if (!begun) return Error{"cannot connect to pmcd on " + host + ": it does not answer"};
  if (!*begun) return begun->error();
  made->metrics_ = **std::move(begun);
  return made;
}

std::string HostAgent::text(unsigned type, unsigned of) {
  return questions_.ask([type, of](PcpHost&) { return help_text_of(type, of); }).value_or("");
}

OwnedLabels HostAgent::labels(unsigned type, unsigned of) {
  auto found = questions_.ask([type, of, filter = spans_](PcpHost&) {
    return labels_by([&](pmLabelSet** sets) {
      const int count = fetch_labels(type, of, sets);
      return type == PM_LABEL_CONTEXT ? with_filter(sets, count, filter) : count;
    });
  });
  return found ? *std::move(found) : OwnedLabels();
}

Instances HostAgent::instances(pmInDom domain) {
  return questions_.ask([domain](PcpHost&) { return instances_by(pmGetInDom, domain); })
      .value_or(Instances());
}

Result<Sample> HostAgent::read(std::span<const pmID> metrics, Instant) {
  auto read = questions_.ask([ids = std::vector<pmID>(metrics.begin(), metrics.end())](
                                 PcpHost& host) { return read_values(host, ids); });
  if (!read) return Error{"pmcd does not answer"};
  if (!*read) return read->error();
  result_ = **std::move(read);
  return to_sample(*result_);
}

Result<RecordedAgent::Events> HostAgent::read_events(Instant) {
  Events events;
  if (spans_.empty()) return events;
  auto read = questions_.ask(fetch_spans_of);
  if (!read || !*read) return events;
  if ((*read)->has_lapsed)
    what_is_missing_ =
        "spans, in unknown number: nothing was fetched for longer than tracing.control.idle";
  if ((*read)->events().numval == 0) return events;
  result_ = std::move((*read)->result);
  events.sample = to_sample(*result_);
  events.sample.resize(1);
  events.has_more = (*read)->backlog != 0;
  return events;
}

}  // namespace pcp::trace::command
