// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/record/host_source.hpp"

#include <array>
#include <cstdlib>
#include <utility>

namespace pcp::trace::command {

namespace {

Error error_of(const std::string& what, int status) {
  std::array<char, PM_MAXERRMSGLEN> text{};
  return {what + ": " + pmErrStr_r(status, text.data(), static_cast<int>(text.size()))};
}

void add_name(const char* name, void* names) {
  static_cast<std::vector<std::string>*>(names)->emplace_back(name);
}

// Beside `trace` are distributions, which an agent of PCP's own does not have.
constexpr std::array kRoots{"trace", "tracing.histogram"};

std::vector<std::string> names_below_roots() {
  std::vector<std::string> names;
  for (const char* const root : kRoots) pmTraversePMNS_r(root, add_name, &names);
  return names;
}

int lookup(const char* name, pmID& metric) { return pmLookupName(1, &name, &metric); }

// The label sets that pmcd gives, which PCP's function for each type fetches.
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

Result<std::unique_ptr<HostSource>> HostSource::connect(const std::string& host) {
  const int context = pmNewContext(PM_CONTEXT_HOST, host.c_str());
  if (context < 0) return error_of("cannot connect to pmcd on " + host, context);
  std::unique_ptr<HostSource> made(new HostSource(context));
  if (const Result<void> found = made->find_metrics(); !found)
    return Error{host + ": " + found.error().message};
  return made;
}

HostSource::~HostSource() {
  result_.reset();
  pmDestroyContext(context_);
}

Result<void> HostSource::find_metrics() {
  for (const std::string& name : names_below_roots()) {
    RecordedMetric metric{name, {}};
    pmID id = PM_ID_NULL;
    if (lookup(name.c_str(), id) < 0 || pmLookupDesc(id, &metric.description) < 0) continue;
    metrics_.push_back(std::move(metric));
  }
  if (metrics_.empty())
    return Error{"its pmcd has no metrics trace.*; is the trace agent installed there?"};
  return {};
}

std::string HostSource::host_name() const {
  std::array<char, 256> name{};
  return pmGetContextHostName_r(context_, name.data(), static_cast<int>(name.size()));
}

std::string HostSource::text(unsigned type, unsigned of) {
  char* text = nullptr;
  const auto length = static_cast<int>(type & (PM_TEXT_ONELINE | PM_TEXT_HELP));
  const int status = (type & PM_TEXT_INDOM) != 0 ? pmLookupInDomText(of, length, &text)
                                                 : pmLookupText(of, length, &text);
  if (status < 0) return {};
  const std::unique_ptr<char, void (*)(void*)> owned(text, std::free);
  return text;
}

OwnedLabels HostSource::labels(unsigned type, unsigned of) {
  pmLabelSet* sets = nullptr;
  const int count = fetch_labels(type, of, &sets);
  return {sets, count};
}

Instances HostSource::instances(pmInDom domain) { return instances_by(pmGetInDom, domain); }

Result<Sample> HostSource::read(std::span<const pmID> metrics, agent::Time) {
  if (is_lost_ && pmReconnectContext(context_) < 0) return Error{"pmcd does not answer"};
  std::vector<pmID> ids(metrics.begin(), metrics.end());
  pmResult* result = nullptr;
  const int status = pmFetch(static_cast<int>(ids.size()), ids.data(), &result);
  is_lost_ = status < 0;
  if (status < 0) return error_of("pmcd", status);
  result_.reset(result);
  if ((status & PMCD_LABEL_CHANGE) != 0) labels_changed_ = true;
  return to_sample(*result);
}

}  // namespace pcp::trace::command
