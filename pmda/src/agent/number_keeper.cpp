#include "agent/number_keeper.hpp"

#include <utility>

#include "agent/copy_in_slices.hpp"

namespace pcp::trace::agent {

namespace {

// After a save that took a time, this many times as long goes by before the next.
constexpr int kRest = 50;

Time steady_now() { return std::chrono::steady_clock::now().time_since_epoch(); }

}  // namespace

NumberKeeper::NumberKeeper(InstanceFile file, Shared& shared, Warn warn)
    : file_(std::move(file)), shared_(shared), warn_(warn), saved_(copy_numbers().size()) {}

void NumberKeeper::save_new() {
  // Mostly nothing is new, and then the ingest thread need not be disturbed.
  const std::uint64_t changes = shared_.engine.changes();
  if (changes == changes_ || steady_now() < next_save_) return;
  changes_ = changes;
  std::vector<KnownInstance> first_new;
  {
    const std::lock_guard lock(shared_.mutex);
    if (shared_.engine.known_instances(saved_, 1, first_new) == 0) return;
  }
  const Time begin = steady_now();
  save();
  const Time end = steady_now();
  next_save_ = end + (end - begin) * kRest;
}

void NumberKeeper::save() {
  const std::vector<KnownInstance> numbers = copy_numbers();
  saved_ = numbers.size();
  const std::string problem = file_.save(numbers);
  if (!problem.empty() && !std::exchange(warned_, true)) warn_(problem);
}

std::vector<KnownInstance> NumberKeeper::copy_numbers() const {
  std::vector<KnownInstance> numbers;
  copy_in_slices<KnownInstance>(
      shared_,
      [&](const Engine& engine, std::size_t max, std::vector<KnownInstance>& out) {
        engine.known_instances(numbers.size(), max, out);
      },
      [&](KnownInstance&& number) { numbers.push_back(std::move(number)); });
  return numbers;
}

}  // namespace pcp::trace::agent
