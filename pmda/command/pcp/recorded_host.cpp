// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/pcp/recorded_host.hpp"

namespace pcp::trace::command {

Result<std::optional<ArchiveSample>> RecordedHost::next() {
  Result<ArchiveSample> sample = read();
  if (sample) return std::optional(*std::move(sample));
  host_.disconnect();
  return sample.error();
}

Result<void> RecordedHost::begin() {
  if (Result<void> connected = host_.connect(); !connected) return connected;
  if (Result<void> found = host_.find_agent(); !found) return found;
  ++connections_;
  ids_.clear();
  metrics_.clear();
  for (const RecordedQuantity& what : kRecordedQuantities) {
    if (!is_wanted_(what)) continue;
    const pmID id = lookup(what.metric);
    pmDesc description{};
    if (id == PM_ID_NULL || pmLookupDesc(id, &description) < 0) continue;
    ids_.push_back(id);
    metrics_.emplace(id, Metric{what, description});
  }
  return {};
}

Result<ArchiveSample> RecordedHost::read() {
  if (!host_.is_connected())
    if (const Result<void> begun = begin(); !begun) return begun.error();
  Result<OwnedResult> fetched = host_.fetch(ids_);
  if (!fetched) return fetched.error();
  result_ = *std::move(fetched);
  ArchiveSample sample;
  sample.at = moment_of(result_->timestamp);
  sample.quantities = sorted_values(*result_);
  if (sample.quantities.empty()) return Error{"its trace agent has gone"};
  return sample;
}

Instances RecordedHost::instances(pmInDom domain, bool ever) const {
  if (ever) return {};
  host_.use();
  return without_numbers(instances_by(pmGetInDom, domain));
}

}  // namespace pcp::trace::command
