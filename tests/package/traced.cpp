// SPDX-License-Identifier: LGPL-2.1-or-later
// An outside program in C++: one transaction that ends, one that is aborted, a point, two values.
#include <iostream>
#include <pcp/trace.hpp>

int main() {
  pcp::trace::Transaction transaction{"package"};
  { auto scope = transaction.begin(); }
  {
    auto scope = transaction.begin();
    scope.abort();
  }
  pcp::trace::Point{"package"}.hit();
  pcp::trace::Observation{"package"}.record(3.5);
  pcp::trace::Counter{"package"}.record(42);
  if (pmtrace_flush(100) != 1) return 1;
  std::cout << "traced\n";
}
