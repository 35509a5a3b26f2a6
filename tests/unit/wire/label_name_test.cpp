// SPDX-License-Identifier: LGPL-2.1-or-later
#include "wire/label_name.hpp"

#include <string>

#include <gtest/gtest.h>

namespace pcp::trace {
namespace {

TEST(LabelName, IsWhatPcpTakes) {
  for (const char* name : {"a", "Z", "zone", "k8s_pod_1", "a_"}) EXPECT_TRUE(is_label_name(name));
  EXPECT_TRUE(is_label_name(std::string(254, 'x')));
  EXPECT_FALSE(is_label_name(std::string(255, 'x')));
  for (const char* name :
       {"", "9lives", "_a", "a b", "x\"", "k8s.pod", "a-b", "gr\xc3\xb6\xc3\x9f"})
    EXPECT_FALSE(is_label_name(name)) << name;
  EXPECT_FALSE(is_label_name(std::string("a\0b", 3)));
}

TEST(LabelName, MayNotBeOneThatTellsWhereOrWhoAProcessIs) {
  for (const char* name : {"hostname", "machineid", "agent", "tag", "pid", "userid", "groupid",
                           "trace_type", "service"})
    EXPECT_TRUE(is_reserved_label(name)) << name;
  EXPECT_FALSE(is_reserved_label("zone"));
}

}  // namespace
}  // namespace pcp::trace
