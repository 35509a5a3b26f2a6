// SPDX-License-Identifier: LGPL-2.1-or-later
// OTLP's bytes as another reader than ours reads them, in one line of protobuf's text format.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace pcp::trace::command {

inline std::string read_by_protoc(const std::string& message, std::string_view bytes) {
  const std::string path = ::testing::TempDir() + "otlp_" + std::to_string(::getpid());
  std::ofstream(path, std::ios::binary) << bytes;
  const std::string command = std::string(PROTOC) +
                              " --proto_path='" OTLP_DIRECTORY "' --decode=otlp." + message +
                              " otlp.proto <'" + path + "' >'" + path + ".txt'";
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
  std::ostringstream text;
  text << std::ifstream(path + ".txt").rdbuf();
  std::remove(path.c_str());
  std::remove((path + ".txt").c_str());
  return std::regex_replace(text.str(), std::regex("\\s+"), " ");
}

}  // namespace pcp::trace::command
