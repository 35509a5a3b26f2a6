#include "engine/window_sums.hpp"

namespace pcp::trace::agent {

WindowSums& WindowBuckets::find_or_insert(std::int64_t interval, std::size_t most) {
  const auto older = [](const Bucket& bucket, std::int64_t wanted) {
    return bucket.interval < wanted;
  };
  auto at = std::lower_bound(buckets_.begin(), buckets_.end(), interval, older);
  if (at != buckets_.end() && at->interval == interval) return at->sums;
  const auto place = at - buckets_.begin();
  if (buckets_.size() == buckets_.capacity()) {
    buckets_.reserve(std::max(buckets_.size() + 1, std::min(2 * buckets_.size(), most)));
  }
  return buckets_.insert(buckets_.begin() + place, Bucket{interval, {}})->sums;
}

void WindowBuckets::drop_before(std::int64_t interval) {
  const auto newer = [interval](const Bucket& bucket) { return bucket.interval >= interval; };
  buckets_.erase(buckets_.begin(), std::find_if(buckets_.begin(), buckets_.end(), newer));
  if (buckets_.empty()) buckets_ = {};
}

WindowSums WindowBuckets::total() const {
  WindowSums total;
  for (const Bucket& bucket : buckets_) total.merge(bucket.sums);
  return total;
}

}  // namespace pcp::trace::agent
