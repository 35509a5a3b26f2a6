// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/record/embedded_source.hpp"

#include <cstdlib>
#include <memory>
#include <utility>

#include "metrics/label_sets.hpp"
#include "metrics/span_items.hpp"

namespace pcp::trace::command {

namespace {

constexpr unsigned kDomain = 10;  // of trace agents

pmDesc description_of(const agent::Metric& metric) {
  pmDesc description{};
  description.pmid = pmID_build(kDomain, metric.cluster, metric.item);
  description.type = metric.type();
  description.indom =
      metric.indom == agent::kNoIndom ? PM_INDOM_NULL : pmInDom_build(kDomain, metric.indom);
  description.sem = metric.semantics;
  description.units = metric.units;
  return description;
}

}  // namespace

EmbeddedSource::EmbeddedSource(agent::Reader reader, std::uint16_t port, agent::LabelText about,
                               std::unique_ptr<agent::Spans::Monitor> spans, Instant now)
    : events_(std::move(spans)),
      metrics_({kDomain, {}, port}, reader, now),
      about_(std::move(about)),
      now_(now) {
  metrics_.set_span_desk(events_);
}

EmbeddedSource::~EmbeddedSource() { metrics_.release(); }

std::vector<RecordedMetric> EmbeddedSource::metrics() {
  std::vector<RecordedMetric> all;
  for (const agent::Metric& metric : metrics_.table())
    if (metric.cluster != agent::kSpanCluster ||
        (events_.are_wanted() && agent::is_of_events(metric.cluster, metric.item)))
      all.push_back({metric.name, description_of(metric)});
  return all;
}

std::string EmbeddedSource::text(unsigned type, unsigned of) {
  const char* text = nullptr;
  const int error = metrics_.text(static_cast<int>(of), static_cast<int>(type), &text);
  return error < 0 ? "" : text;
}

OwnedLabels EmbeddedSource::labels(unsigned type, unsigned of) {
  pmLabelSet* sets = nullptr;
  if (type == PM_LABEL_CONTEXT) {
    agent::LabelSets about(1);
    about.add(PM_IN_NULL, about_);
    const int count = about.release(&sets);
    return {sets, count};
  }
  const int count = metrics_.labels(static_cast<int>(of), static_cast<int>(type), &sets, now_);
  return {sets, count};
}

Instances EmbeddedSource::instances(pmInDom domain) {
  pmInResult* answer = nullptr;
  if (metrics_.instances(domain, static_cast<int>(PM_IN_NULL), nullptr, &answer, now_) < 0)
    return {};
  Instances all;
  for (int i = 0; i < answer->numinst; ++i) {
    all.emplace(answer->instlist[i], answer->namelist[i]);
    std::free(answer->namelist[i]);
  }
  std::free(answer->namelist);
  std::free(answer->instlist);
  std::free(answer);
  return all;
}

Result<Sample> EmbeddedSource::read(std::span<const pmID> metrics, Instant now) {
  now_ = now;
  metrics_.release();
  return to_sample(*metrics_.fetch(metrics.data(), metrics.size(), nullptr, now));
}

Result<Source::Events> EmbeddedSource::read_events(Instant now) {
  Events events;
  if (!events_.are_wanted()) return events;
  const pmID metric = pmID_build(kDomain, agent::kSpanCluster, agent::kEventsItem);
  metrics_.release();
  events.sample = to_sample(*metrics_.fetch(&metric, 1, nullptr, now));
  // An array with spans left behind it is nearly full: no span needs more than a quarter.
  for (const MetricValues& each : events.sample)
    for (const pmValue& array : each.values)
      events.has_more = array.value.pval->vlen > OwnEvents::kMostBytes / 2;
  return events;
}

}  // namespace pcp::trace::command
