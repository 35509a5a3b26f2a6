// SPDX-License-Identifier: LGPL-2.1-or-later
// Histograms of values, and their packed bytes.
#pragma once

#include <string>
#include <vector>

#include "wire/histogram.hpp"

namespace pcp::trace {

inline Histogram histogram_of(const std::vector<double>& values, unsigned coarseness = 0) {
  Histogram histogram;
  for (const double value : values) histogram.add(value);
  histogram.coarsen_to(coarseness);
  return histogram;
}

inline std::string packed(const Histogram& histogram) {
  std::string bytes;
  histogram.pack(bytes);
  return bytes;
}
inline std::string packed(const std::vector<double>& values) {
  return packed(histogram_of(values));
}

}  // namespace pcp::trace
