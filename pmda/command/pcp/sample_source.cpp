// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/pcp/sample_source.hpp"

#include <array>
#include <cstring>
#include <limits>
#include <set>
#include <utility>

#include "command/pcp/pcp_values.hpp"
#include "wire/first_word.hpp"

namespace pcp::trace::command {

// If two tags have the same first word, the agent shows one of them with its number after that
// word. Gives the tags as the programs call them, because other runs give other numbers.
Instances without_numbers(const Instances& names) {
  std::set<std::string_view> words;
  for (const auto& [number, name] : names) words.insert(first_word(name));
  Instances tags;
  std::set<std::string> taken;
  for (const auto& [number, name] : names) {
    const std::string suffix = suffix_of(number);
    const std::string_view word = first_word(name);
    std::string tag = name;
    if (word.ends_with(suffix) && words.contains(word.substr(0, word.size() - suffix.size())))
      tag.erase(word.size() - suffix.size(), suffix.size());
    // Two tags that look the same stay two.
    if (!taken.insert(tag).second) tag = name;
    tags[number] = std::move(tag);
  }
  return tags;
}

std::map<std::string, MetricDescription> descriptions_of(pmInDom domain, const Instances& names) {
  std::map<std::string, MetricDescription> all;
  const OwnedLabels labels = labels_of_instances(domain);
  for (const pmLabelSet& set : labels.all()) {
    MetricDescription its{label_of(set, "unit"), label_of(set, "description")};
    const auto name = names.find(static_cast<int>(set.inst));
    if (name != names.end() && !(its.unit.empty() && its.text.empty()))
      all.emplace(name->second, std::move(its));
  }
  return all;
}

std::span<const pmValue> QuantityValues::values() const {
  return {set->vlist, static_cast<std::size_t>(std::max(set->numval, 0))};
}

double QuantityValues::number(const pmValue& value) const {
  pmAtomValue found;
  const int error = pmExtractValue(set->valfmt, &value, metric.type, &found, PM_TYPE_DOUBLE);
  return error < 0 ? std::numeric_limits<double>::quiet_NaN() : found.d;
}

std::string_view QuantityValues::text(const pmValue& value) const {
  if (metric.type != PM_TYPE_STRING || set->valfmt == PM_VAL_INSITU) return {};
  const pmValueBlock& block = *value.value.pval;
  if (block.vlen <= PM_VAL_HDR_SIZE) return {};
  const std::size_t room = block.vlen - PM_VAL_HDR_SIZE;
  return {block.vbuf, strnlen(block.vbuf, room)};
}

bool SampleSource::has(TraceType type, Quantity quantity, Ending ending) const {
  return std::any_of(metrics_.begin(), metrics_.end(), [&](const auto& metric) {
    const RecordedQuantity& what = metric.second.what;
    return what.type == type && what.quantity == quantity && what.ending == ending;
  });
}

std::string SampleSource::unit_of(TraceType type) const {
  if (type == TraceType::Transact) return "s";
  for (const auto& [id, metric] : metrics_) {
    const Quantity quantity = metric.what.quantity;
    if (metric.what.type != type || !is_of_tags(quantity)) continue;
    if (quantity != Quantity::Last && quantity != Quantity::Counted) continue;
    std::array<char, 64> text{};
    const std::string unit = pmUnitsStr_r(&metric.description.units, text.data(), text.size());
    return unit == "none" ? "" : unit;
  }
  return "";
}

std::map<std::string, MetricDescription> SampleSource::descriptions(TraceType type) const {
  const pmInDom domain = domain_of(type);
  if (domain == PM_INDOM_NULL) return {};
  return descriptions_of(domain, instances(domain, false));
}

pmInDom SampleSource::domain_of(TraceType type) const {
  for (const auto& [id, metric] : metrics_)
    if (is_of_tags(metric.what.quantity) && metric.what.type == type)
      return metric.description.indom;
  return PM_INDOM_NULL;
}

}  // namespace pcp::trace::command
