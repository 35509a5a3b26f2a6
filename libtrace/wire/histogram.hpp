// The distribution of one tag's values, for percentiles: a log-linear histogram over all finite
// doubles, negative ones and zero included. Every power of two is divided into 32 equal bins, so that
// a bin's middle is never more than 1.6% away from any value in it. Only the powers of two that occur
// take memory. Merging is exact. Coarsening halves the number of bins in each power of two.
//
// The same class works in the client (add) and in the agent (merge, quantile). Between them and in
// the agent's ring a histogram travels packed: see pack().
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pcp::trace {

class Histogram {
 public:
  // Divides each power of two into 2^5 bins as long as nothing was coarsened.
  static constexpr unsigned kMaxCoarseness = 5;

  // Counts one finite value.
  void add(double value) { add_to_bin(bin_of(value), 1); }

  void merge(const Histogram& other);

  // Adds a packed histogram. False, with nothing changed, if the bytes are not one.
  bool merge_packed(std::string_view packed);

  // Appends this histogram's bytes to `out`: about two for each occupied bin. An empty histogram gives none.
  void pack(std::string& out) const;

  // Tells whether merge_packed would take these bytes, and how many values they count.
  static bool read_packed_total(std::string_view packed, std::uint64_t& total);

  // Joins neighbouring bins. Coarser than kMaxCoarseness is not possible: nothing happens.
  void coarsen();
  unsigned coarseness() const { return coarseness_; }

  // Gives the value below or at which the share `q` (0 to 1) of all values lies: the middle of its
  // bin. Requires: not empty.
  double quantile(double q) const;

  std::uint64_t total() const { return total_; }
  bool empty() const { return total_ == 0; }

  // Forgets all counts; keeps the memory for the next round.
  void clear();

  std::size_t memory_bytes() const;

 private:
  // IMPLEMENTATION TO BE COMPLETED BY THE ENGINE AUTHOR: bin_of, add_to_bin inline, chunk storage.
  static std::int32_t bin_of(double value);
  void add_to_bin(std::int32_t bin, std::uint64_t count);
  std::uint64_t total_ = 0;
  unsigned coarseness_ = 0;
};

}  // namespace pcp::trace
