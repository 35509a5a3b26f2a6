// SPDX-License-Identifier: LGPL-2.1-or-later
#include "counts/legacy_session.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "link/client_options.hpp"
#include "wire/dimensions.hpp"
#include "wire/legacy.hpp"

namespace pcp::trace::client {
namespace {

Delta repeated(double value, std::uint64_t count) {
  Delta delta;
  delta.add(value);
  delta.count = count;
  delta.sum *= static_cast<double>(count);
  delta.nonfinite *= count;
  return delta;
}

}  // namespace

double take_legacy_value(TraceType type, Delta& delta) {
  --delta.count;
  if (type == TraceType::Point) return wire::kLegacyPointValue;
  if (type != TraceType::Transact) return delta.last;
  if (delta.count == 0) return delta.min;

  // The maximum goes first. The rest has the same minimum, and equal values above it; it must stay
  // a valid delta, in case our agent is the next one.
  const double value = delta.max;
  delta.sum -= value;
  delta.max =
      delta.count == 1 ? delta.min : (delta.sum - delta.min) / static_cast<double>(delta.count - 1);
  delta.max = std::max(delta.max, delta.min);  // rounding
  delta.last = std::min(delta.last, delta.max);
  return value;
}

bool LegacySession::on_pdu(const wire::Frame& pdu, std::uint64_t, std::string&) {
  const auto code = wire::decode_ack(pdu.payload);
  if (pdu.type != wire::PduType::Ack || !code || *code < 0 || chunk_records_ == 0) return false;
  counters_.acknowledged += chunk_records_;
  chunk_records_ = 0;
  return true;
}

void LegacySession::on_disconnected(std::uint64_t) {
  is_connected_ = false;
  counters_.uncertain += chunk_records_;
  chunk_records_ = 0;
  if (rest_.delta.count > 0) {
    // Observations and counters send their last value each time; the rest repeats that value.
    if (rest_.series == RecordKind::Observe || rest_.series == RecordKind::Counter)
      rest_.delta = repeated(rest_.delta.last, rest_.delta.count);
    pending_.add_again(rest_);
  }
  rest_.delta = {};
}

void LegacySession::send_pending(std::uint64_t until, std::uint64_t, std::string& out) {
  if (!is_connected_ || chunk_records_ > 0) return;
  std::vector<wire::LegacyData> values;
  std::size_t bytes = 0;
  while (rest_.delta.count > 0 || take_entry(until)) {
    if (values.empty()) {  // room before a value is taken: without memory none is lost
      values.reserve(kChunkBytes / wire::data_pdu_bytes(1));
      out.reserve(out.size() + kChunkBytes);
    }
    bytes += wire::data_pdu_bytes(rest_name_.size());
    if (bytes > kChunkBytes) break;
    values.push_back(
        {rest_.type(), false, take_legacy_value(rest_.type(), rest_.delta), rest_name_});
    if (rest_.is_added()) rest_.delta.sum = 0;  // the value was the whole sum
  }
  if (values.empty()) return;
  values.back().wants_ack = true;
  chunk_records_ = values.size();

  for (const wire::LegacyData& value : values) wire::append_data(out, own_pid(), value);
  counters_.sent += chunk_records_;
  counters_.batches += 1;
}

// A tag with too many labels uses its bare name, so that it arrives. Empty if that is too long as
// well.
std::string_view LegacySession::name_for_stock(const Tag& tag) {
  const std::string_view whole = name_of(tag);
  const std::string_view name = whole.size() <= kMaxLegacyTag ? whole : bare_name(whole);
  return name.size() <= kMaxLegacyTag ? name : std::string_view();
}

// Takes the next entry with calls that a stock agent understands.
bool LegacySession::take_entry(std::uint64_t until) {
  while (pending_.popped() < until) {
    Pending::Entry& entry = pending_.front();
    rest_entry_ = pending_.popped();
    rest_name_ = name_for_stock(*entry.tag);
    const bool fits = !rest_name_.empty();
    rest_.tag = entry.tag;
    rest_.series = entry.series;
    rest_.first_ns = entry.first_ns;
    rest_.last_ns = entry.last_ns;
    rest_.delta = fits && !entry.is_of_failures() ? entry.delta : Delta{};
    if (entry.is_of_failures()) counters_.aborted += entry.records();
    if (!fits)
      counters_.undeliverable += entry.records();
    else if (entry.is_of_failures())
      counters_.acknowledged += entry.records();  // not counted by a stock agent
    pending_.pop();
    if (rest_.delta.count > 0) return true;
  }
  return false;
}

}  // namespace pcp::trace::client
