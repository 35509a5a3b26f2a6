// SPDX-License-Identifier: LGPL-2.1-or-later
// Runs a fuzz target with the files of the directories on the command line. This makes a corpus a
// plain test, with any compiler.
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size);

int main(int argc, char** argv) {
  int files = 0;
  for (int i = 1; i < argc; ++i) {
    for (const auto& each : std::filesystem::directory_iterator(argv[i])) {
      std::cout << each.path() << std::endl;  // flushed: the target may crash on this file
      std::ifstream file(each.path(), std::ios::binary);
      const std::vector<char> bytes(std::istreambuf_iterator<char>(file), {});
      LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
      ++files;
    }
  }
  return files > 0 ? 0 : 1;
}
