// SPDX-License-Identifier: LGPL-2.1-or-later
#include "agent/store_requests.hpp"

#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace pcp::trace::agent {

namespace {

// The text in a block of values, whatever its declared type: pmevent stores text into an event
// metric. Nothing if the value is a number.
std::optional<std::string> text_in(const pmValueSet& values) {
  if (values.valfmt == PM_VAL_INSITU) return {};
  const pmValueBlock& block = *values.vlist[0].value.pval;
  if (block.vlen < PM_VAL_HDR_SIZE) return {};
  const std::string_view text(block.vbuf, block.vlen - PM_VAL_HDR_SIZE);
  return std::string(text.substr(0, text.find('\0')));
}

}  // namespace

StoreRequests::StoreRequests(Metrics& metrics, Privileges& privileges, SpanMonitors& monitors,
                             std::function<void(Instant)> reset)
    : metrics_(metrics), privileges_(privileges), monitors_(monitors), reset_(std::move(reset)) {}

int StoreRequests::store(const pmapi::AgentResult& values, int context, Instant now) {
  for (int i = 0; i < values.numpmid; ++i) {
    const int status = store(*values.vset[i], context, now);
    if (status < 0) return status;
  }
  return 0;
}

int StoreRequests::store(const pmValueSet& values, int context, Instant now) {
  const Metric* const metric = metrics_.find(values.pmid);
  if (!metric) return PM_ERR_PMID;
  // SpanMonitors decides what filter a monitor may set for itself.
  const bool is_its_own = metric->store == Store::OwnFilter || metric->store == Store::Wanted;
  const bool may_store = is_its_own || privileges_.may_store(context);
  if (metric->store == Store::Refused || !may_store) return PM_ERR_PERMISSION;
  if (values.numval != 1) return PM_ERR_BADSTORE;
  switch (metric->store) {
    case Store::Refused:
      break;
    case Store::Reset:
      reset_(now);
      return 0;
    case Store::DebugBits:
    case Store::DebugOptions:
      return replace_debug_options(values, metric->type());
    case Store::OwnFilter:
    case Store::CommonFilter:
    case Store::Wanted:
      return store_filter(*metric, values, context, now);
    case Store::FetchBytes:
    case Store::SpanBytes:
    case Store::IdleSeconds:
      return store_number(*metric, values);
  }
  return PM_ERR_PERMISSION;
}

int StoreRequests::store_filter(const Metric& metric, const pmValueSet& values, int context,
                                Instant now) {
  const std::optional<std::string> text = text_in(values);
  if (!text) return PM_ERR_BADSTORE;
  if (metric.store == Store::Wanted) return monitors_.store_wanted(context, *text, now);
  return metric.store == Store::OwnFilter ? monitors_.store_own_filter(context, *text, now)
                                          : monitors_.store_common_filter(*text, now);
}

int StoreRequests::store_number(const Metric& metric, const pmValueSet& values) {
  pmAtomValue atom{};
  const int status =
      pmExtractValue(values.valfmt, &values.vlist[0], metric.type(), &atom, PM_TYPE_U32);
  if (status < 0) return status;
  if (metric.store == Store::FetchBytes) return monitors_.store_fetch_bytes(atom.ul);
  if (metric.store == Store::SpanBytes) return monitors_.store_memory(atom.ul);
  return monitors_.store_idle(atom.ul);
}

int StoreRequests::replace_debug_options(const pmValueSet& values, int type) {
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
  return metrics_.debug_options().replace(options) ? 0 : PM_ERR_CONV;
}

}  // namespace pcp::trace::agent
