// SPDX-License-Identifier: LGPL-2.1-or-later
#include "open/tick_rate.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <string_view>

#ifdef __x86_64__
#include <cpuid.h>
#endif

#include "open/moment.hpp"

namespace pcp::trace::client {
namespace {

// Readings are exact to a fraction of a microsecond, so over this time the rate is exact to 1e-5.
constexpr std::uint64_t kLeastIntervalNs = 50'000'000;

// After this time the rate is not improved any more.
constexpr std::uint64_t kLearningNs = 10'000'000'000;

// More than a clock's slew (5e-4), and far less than any change of the counter's frequency.
constexpr double kTolerance = 1e-3;

#ifdef __aarch64__
constexpr std::string_view kClockSource = "arch_sys_counter\n";

// In half ticks, as read_counter() gives them. 0 if the firmware has not set it.
std::uint64_t ticks_per_second() {
  std::uint64_t frequency;
  asm("mrs %0, cntfrq_el0" : "=r"(frequency));
  return (frequency & 0xFFFF'FFFF) << 1;
}

// Both clocks are read within so many ticks unless interrupted: two microseconds at any rate.
std::uint64_t quick_ticks() { return ticks_per_second() / 500'000; }
#else
constexpr std::string_view kClockSource = "tsc\n";

// The same for rates of 1 to 5 GHz.
std::uint64_t quick_ticks() { return 2'000; }
#endif

double rate_of(std::uint64_t ticks, std::uint64_t ns) {
  return static_cast<double>(ns) * 1e-9 / static_cast<double>(ticks);
}

bool is_invariant() {
#ifdef __x86_64__
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  return __get_cpuid(0x8000'0007, &a, &b, &c, &d) != 0 && (d & 1u << 8) != 0;
#elif defined(__aarch64__)
  return ticks_per_second() != 0;  // the architecture promises the rest
#else
  return false;
#endif
}

}  // namespace

void TickRate::observe(std::uint64_t ticks, std::uint64_t ns) {
  if (has_failed_) return;
  if (first_.ns == 0) {
    first_ = last_ = {ticks, ns};
    seconds_per_tick_ = named_;
    return;
  }
  if (ns < last_.ns + kLeastIntervalNs) return;
  if (ticks <= last_.ticks) {
    has_failed_ = true;
  } else if (seconds_per_tick_ > 0) {
    const double lately = rate_of(ticks - last_.ticks, ns - last_.ns);
    has_failed_ = std::fabs(lately / seconds_per_tick_ - 1) > kTolerance;
  }
  if (has_failed_) {
    seconds_per_tick_ = 0;
    return;
  }
  if (seconds_per_tick_ == 0 || ns - first_.ns < kLearningNs)
    seconds_per_tick_ = rate_of(ticks - first_.ticks, ns - first_.ns);
  last_ = {ticks, ns};
}

bool is_counter_trusted() {
  if (!is_invariant()) return false;
  const int file = ::open("/sys/devices/system/clocksource/clocksource0/current_clocksource",
                          O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  std::array<char, 32> text{};
  const ssize_t got = ::read(file, text.data(), text.size());
  ::close(file);
  return got > 0 && std::string_view(text.data(), static_cast<std::size_t>(got)) == kClockSource;
}

double named_seconds_per_tick() {
#ifdef __aarch64__
  const std::uint64_t frequency = ticks_per_second();
  return frequency != 0 ? 1 / static_cast<double>(frequency) : 0;
#else
  return 0;
#endif
}

void watch_counter(TickRate& rate) {
  const std::uint64_t before = read_counter();
  const std::uint64_t ns = now_ns();
  const std::uint64_t after = read_counter();
  if (after - before > quick_ticks()) return;
  rate.observe(before + (after - before) / 2, ns);
  if (rate.seconds_per_tick() > 0 || rate.has_failed())
    seconds_per_tick.store(rate.seconds_per_tick(), std::memory_order_relaxed);
}

}  // namespace pcp::trace::client
