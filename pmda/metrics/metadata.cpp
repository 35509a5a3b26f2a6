// SPDX-License-Identifier: LGPL-2.1-or-later
// Writes the files `pmns`, `pmns.tracing` and `help` into a directory. They repeat the metric table
// for PCP's Install procedures. The target `pmda_metadata` updates those in the source tree.
#include <cstdlib>
#include <fstream>
#include <iostream>

#include "metrics/metric_table.hpp"

int main(int argc, char** argv) {
  using namespace pcp::trace::agent;
  if (argc != 2) {
    std::cerr << "usage: trace_metadata DIRECTORY\n";
    return EXIT_FAILURE;
  }
  const std::string directory = argv[1];
  const std::vector<Metric> table = metric_table({});
  const auto write = [&directory](const char* name, const std::string& text) {
    std::ofstream file(directory + "/" + name);
    file << text;
    file.close();
    return !file.fail();
  };
  const bool written = write("pmns", pmns_file(table, "trace")) &&
                       write("pmns.tracing", pmns_file(table, "tracing")) &&
                       write("help", help_file(table));
  return written ? EXIT_SUCCESS : EXIT_FAILURE;
}
