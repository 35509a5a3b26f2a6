// SPDX-License-Identifier: LGPL-2.1-or-later
// The fuzzer's bytes, taken from the front as the numbers and texts that a target needs. After the
// end all is zero or empty, so any bytes are a complete input.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace pcp::trace::fuzz {

// Stops the fuzzer. Not assert: this must work in every build.
inline void require(bool promise, int line = __builtin_LINE()) {
  if (promise) return;
  std::fprintf(stderr, "a promise is broken in line %d\n", line);
  std::abort();
}

class Input {
 public:
  explicit Input(std::string_view bytes) : rest_(bytes) {}

  bool empty() const { return rest_.empty(); }
  std::string_view rest() const { return rest_; }

  // Without NUL: command lines and environments have none.
  std::string c_line() { return std::string(line()).c_str(); }

  std::string_view text(std::size_t size) {
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(taken.size());
    return taken;
  }

  // The rest of the line or of the input.
  std::string_view line() {
    const std::string_view taken = text(rest_.find('\n'));
    text(1);
    return taken;
  }

  std::uint8_t byte() {
    const std::string_view one = text(1);
    return one.empty() ? std::uint8_t{0} : static_cast<std::uint8_t>(one.front());
  }

  // 0 to choices - 1. Requires: choices is 1 to 256.
  unsigned pick(unsigned choices) { return byte() % choices; }

  std::uint64_t number() {
    std::uint64_t number = 0;
    for (int i = 0; i < 8; ++i) number = number << 8 | byte();
    return number;
  }

  double real() { return std::bit_cast<double>(number()); }

 private:
  std::string_view rest_;
};

// Takes an input; each target defines it.
void run(Input input);

}  // namespace pcp::trace::fuzz

// Called by the fuzzer, and by replay.cpp.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  pcp::trace::fuzz::run(pcp::trace::fuzz::Input({reinterpret_cast<const char*>(bytes), size}));
  return 0;
}
