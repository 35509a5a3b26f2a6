// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/record/host_source.hpp"

#include <array>
#include <cstdlib>
#include <utility>

#include "command/pcp_values.hpp"
#include "command/record/errand.hpp"

namespace pcp::trace::command {

namespace {

void add_name(const char* name, void* names) {
  static_cast<std::vector<std::string>*>(names)->emplace_back(name);
}

// PCP's own agent has only `trace`, without distributions.
constexpr std::array kRoots{"trace", "tracing.histogram"};

constexpr std::array kRootsOfEvents{"tracing.events", "tracing.param"};

std::vector<std::string> names_below_roots(bool with_events) {
  std::vector<std::string> names;
  for (const char* const root : kRoots) pmTraversePMNS_r(root, add_name, &names);
  if (!with_events || names.empty()) return names;
  for (const char* const root : kRootsOfEvents) pmTraversePMNS_r(root, add_name, &names);
  return names;
}

std::vector<RecordedMetric> metrics_below_roots(bool with_events) {
  std::vector<RecordedMetric> all;
  for (const std::string& name : names_below_roots(with_events)) {
    RecordedMetric metric{name, {}};
    const pmID id = lookup(name.c_str());
    if (id == PM_ID_NULL || pmLookupDesc(id, &metric.description) < 0) continue;
    all.push_back(std::move(metric));
  }
  return all;
}

std::string help_text_of(unsigned type, unsigned of) {
  char* text = nullptr;
  const auto length = static_cast<int>(type & (PM_TEXT_ONELINE | PM_TEXT_HELP));
  const int status = (type & PM_TEXT_INDOM) != 0 ? pmLookupInDomText(of, length, &text)
                                                 : pmLookupText(of, length, &text);
  if (status < 0) return {};
  const std::unique_ptr<char, void (*)(void*)> owned(text, std::free);
  return text;
}

struct Fetched {
  int status = 0;
  pmResult* result = nullptr;
};

Fetched fetch(int context, bool is_lost, std::vector<pmID> metrics) {
  Fetched fetched;
  if (is_lost) fetched.status = pmReconnectContext(context);
  if (fetched.status >= 0)
    fetched.status = pmFetch(static_cast<int>(metrics.size()), metrics.data(), &fetched.result);
  return fetched;
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

}  // namespace

template <typename Question>
auto HostSource::ask(Question question) -> std::optional<decltype(question())> {
  if (is_left_) return {};
  const auto answer = std::make_shared<std::optional<decltype(question())>>();
  const auto work = [answer, question = std::move(question), context = context_] {
    pmUseContext(context);
    answer->emplace(question());
  };
  is_left_ = !has_been_done(work, interruption_);
  if (is_left_) return {};
  return std::move(*answer);
}

Result<std::unique_ptr<HostSource>> HostSource::connect(const std::string& host,
                                                        const std::string& spans,
                                                        Interruption& interruption) {
  std::unique_ptr<HostSource> made(new HostSource(spans, interruption));
  const std::string failure = "cannot connect to pmcd on " + host;
  const std::optional<int> context =
      made->ask([host] { return pmNewContext(PM_CONTEXT_HOST, host.c_str()); });
  if (!context) return Error{failure + ": it does not answer"};
  if (*context < 0) return connection_error(failure, *context);
  made->context_ = *context;
  if (const Result<void> found = made->find_metrics(); !found)
    return Error{host + ": " + found.error().message};
  if (const Result<void> asked = made->ask_for_spans(); !asked)
    return Error{host + ": " + asked.error().message};
  return made;
}

// An unanswered question still holds the context, so destroying it would wait.
HostSource::~HostSource() {
  result_.reset();
  if (context_ >= 0 && !is_left_) pmDestroyContext(context_);
}

Result<void> HostSource::find_metrics() {
  metrics_ = ask([with_events = !spans_.empty()] {
               return metrics_below_roots(with_events);
             }).value_or(std::vector<RecordedMetric>());
  if (!metrics_.empty()) return {};
  const std::optional<Result<void>> found = ask([] { return find_agent(); });
  if (!found) return Error{"its pmcd does not answer"};
  if (!*found) return found->error();
  return Error{"its trace agent has no metrics"};
}

Result<void> HostSource::ask_for_spans() {
  if (spans_.empty()) return {};
  must_ask_for_spans_ = true;
  const auto asked = ask([filter = spans_] { return command::ask_for_spans(filter); });
  if (!asked) return Error{"its pmcd does not answer"};
  if (!*asked) return asked->error();
  span_metrics_ = **asked;
  must_ask_for_spans_ = false;
  return {};
}

std::string HostSource::host_name() {
  return ask([context = context_] { return host_name_of(context); }).value_or("");
}

std::string HostSource::text(unsigned type, unsigned of) {
  return ask([type, of] { return help_text_of(type, of); }).value_or("");
}

OwnedLabels HostSource::labels(unsigned type, unsigned of) {
  auto found = ask([type, of] {
    pmLabelSet* sets = nullptr;
    const int count = fetch_labels(type, of, &sets);
    return OwnedLabels(sets, count);
  });
  return found ? *std::move(found) : OwnedLabels();
}

Instances HostSource::instances(pmInDom domain) {
  return ask([domain] { return instances_by(pmGetInDom, domain); }).value_or(Instances());
}

Result<Sample> HostSource::read(std::span<const pmID> metrics, Instant) {
  const auto fetched = ask([context = context_, is_lost = is_lost_,
                            ids = std::vector<pmID>(metrics.begin(), metrics.end())] {
    return fetch(context, is_lost, ids);
  });
  if (!fetched) return Error{"pmcd does not answer"};
  // After a restart of the agent, or a new connection, the agent does not know our filter.
  must_ask_for_spans_ |= is_lost_ || (fetched->status & PMCD_AGENT_CHANGE) != 0;
  is_lost_ = fetched->status < 0;
  if (is_lost_) return pcp_error("pmcd", fetched->status);
  result_.reset(fetched->result);
  if ((fetched->status & PMCD_LABEL_CHANGE) != 0) labels_changed_ = true;
  if (const int why = why_unknown(*result_); why != 0) return pcp_error("the trace agent", why);
  return to_sample(*result_);
}

Result<Source::Events> HostSource::read_events(Instant) {
  Events events;
  if (spans_.empty() || is_lost_ || (must_ask_for_spans_ && !ask_for_spans())) return events;
  const auto fetched = ask([context = context_, metrics = span_metrics_] {
    return fetch(context, false, {metrics.events, metrics.backlog});
  });
  if (!fetched || fetched->status < 0) return events;
  if ((fetched->status & PMCD_AGENT_CHANGE) != 0) must_ask_for_spans_ = true;
  result_.reset(fetched->result);
  const pmValueSet& backlog = *result_->vset[1];
  if (result_->vset[0]->numval <= 0) return events;
  events.sample = to_sample(*result_);
  events.sample.resize(1);
  events.has_more =
      backlog.numval > 0 && backlog.valfmt == PM_VAL_INSITU && backlog.vlist[0].value.lval != 0;
  return events;
}

}  // namespace pcp::trace::command
