// SPDX-License-Identifier: LGPL-2.1-or-later
// A message as another reader than ours reads it, in one line of protobuf's text format.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace pcp::trace {

// It does not matter how a text is divided into lines.
inline std::string in_one_line(const std::string& text) {
  return std::regex_replace(text, std::regex("\\s+"), " ");
}

// `file` is in PROTO_DIRECTORY, and has the message.
inline std::string read_by_protoc(const std::string& file, const std::string& message,
                                  std::string_view bytes) {
  const std::string path = ::testing::TempDir() + "protoc_" + std::to_string(::getpid());
  std::ofstream(path, std::ios::binary) << bytes;
  const std::string command = std::string(PROTOC) +
                              " --proto_path='" PROTO_DIRECTORY "' --decode=" + message + " " +
                              file + " <'" + path + "' >'" + path + ".txt'";
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
  std::ostringstream text;
  text << std::ifstream(path + ".txt").rdbuf();
  std::remove(path.c_str());
  std::remove((path + ".txt").c_str());
  return in_one_line(text.str());
}

}  // namespace pcp::trace
