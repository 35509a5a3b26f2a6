#include "engine/window_histograms.hpp"

#include <algorithm>

namespace pcp::trace::agent {

namespace {

// Changes a histogram and has the pool note what that does to its memory.
template <typename Change>
void accounted(Histogram& histogram, HistogramPool& pool, Change change) {
  const std::size_t before = histogram.memory_bytes();
  change();
  pool.account(before, histogram.memory_bytes());
}

void coarsen_to(unsigned coarseness, Histogram& histogram) {
  while (histogram.coarseness() < coarseness) histogram.coarsen();
}

}  // namespace

bool WindowHistograms::make_ready(HistogramPool& pool) {
  if (pool.full()) return false;
  accounted(working_, pool, [&] { coarsen_to(pool.coarseness(), working_); });
  return true;
}

bool WindowHistograms::merge(std::string_view packed, std::uint64_t total, HistogramPool& pool) {
  if (!make_ready(pool)) return false;
  bool merged = false;
  accounted(working_, pool, [&] { merged = working_.merge_checked(packed, total); });
  return merged;
}

bool WindowHistograms::merge_share(std::string_view packed, double share, HistogramPool& pool) {
  if (!make_ready(pool)) return false;
  bool merged = false;
  accounted(working_, pool, [&] { merged = working_.merge_packed_share(packed, share); });
  return merged;
}

bool WindowHistograms::merge_late(std::int64_t interval, std::string_view packed, double share,
                                  HistogramPool& pool) {
  if (pool.full()) return false;
  Histogram& sum = pool.scratch();
  coarsen_to(pool.coarseness(), sum);
  if (!sum.merge_packed_share(packed, share)) return false;
  if (sum.empty()) return true;
  auto at = std::find_if(completed_.begin(), completed_.end(),
                         [=](const Packed& each) { return each.interval >= interval; });
  if (at == completed_.end() || at->interval != interval) {
    at = completed_.insert(at, Packed{interval, 0, nullptr});
    pool.account(0, at->memory_bytes());
  }
  if (!sum.merge_packed(at->view())) return false;
  store(sum, *at, pool);
  return true;
}

void WindowHistograms::advance(std::int64_t interval, std::int64_t oldest, HistogramPool& pool) {
  if (!working_.empty() && interval >= oldest) {
    completed_.push_back(Packed{interval, 0, nullptr});
    pool.account(0, completed_.back().memory_bytes());
    store(working_, completed_.back(), pool);
  }
  working_.clear();
  auto newer = completed_.begin();
  for (; newer != completed_.end() && newer->interval < oldest; ++newer) {
    pool.account(newer->memory_bytes(), 0);
  }
  completed_.erase(completed_.begin(), newer);
}

void WindowHistograms::coarsen(HistogramPool& pool) {
  accounted(working_, pool, [&] { coarsen_to(pool.coarseness(), working_); });
  for (Packed& packed : completed_) {
    Histogram& histogram = pool.scratch();
    histogram.merge_packed(packed.view());
    if (histogram.coarseness() >= pool.coarseness()) continue;
    coarsen_to(pool.coarseness(), histogram);
    store(histogram, packed, pool);
  }
}

void WindowHistograms::summarise(const WindowSums& sums, HistogramPool& pool) {
  quantiles_.reset();
  Histogram& total = pool.scratch();
  for (const Packed& packed : completed_) total.merge_packed(packed.view());
  if (total.empty() || sums.min > sums.max) return;
  quantiles_.emplace();
  for (std::size_t i = 0; i < kQuantiles.size(); ++i) {
    (*quantiles_)[i] = std::clamp(total.quantile(kQuantiles[i]), sums.min, sums.max);
  }
}

void WindowHistograms::clear(HistogramPool& pool) {
  pool.account(working_.memory_bytes(), 0);
  for (const Packed& packed : completed_) pool.account(packed.memory_bytes(), 0);
  working_ = {};
  completed_ = std::vector<Packed>();
}

void WindowHistograms::store(const Histogram& histogram, Packed& packed, HistogramPool& pool) {
  const std::string_view bytes = pool.pack(histogram);
  const std::size_t before = packed.memory_bytes();
  packed.bytes = std::make_unique<char[]>(bytes.size());
  packed.size = static_cast<std::uint32_t>(bytes.size());
  std::copy(bytes.begin(), bytes.end(), packed.bytes.get());
  pool.account(before, packed.memory_bytes());
}

}  // namespace pcp::trace::agent
