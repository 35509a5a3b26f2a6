// SPDX-License-Identifier: LGPL-2.1-or-later
// The output of the diagnostic flags: for every call, and on the way to the agent and back.
#include <string>

#include <gtest/gtest.h>

#include "agent_host.hpp"
#include "pcp/trace.h"

namespace pcp::trace {
namespace {

void expect_line(const std::string& lines, const std::string& wanted) {
  EXPECT_NE(lines.find("pcp_trace: " + wanted), std::string::npos) << wanted << " in:\n" << lines;
}

TEST(Diagnostics, TellCallsConnectionsAndPdus) {
  AgentHost agent;
  pmtracestate(PMTRACE_STATE_API | PMTRACE_STATE_COMMS | PMTRACE_STATE_PDU | PMTRACE_STATE_PDUBUF);
  testing::internal::CaptureStderr();
  pmtracepoint("place");
  pmtraceobs("size", 1.5);
  pmtracebegin("work");
  pmtraceend("work");
  pmtracebegin("work");
  pmtraceabort("work");
  ASSERT_EQ(pmtrace_flush(60), 1);
  pmtracestate(PMTRACE_STATE_API | PMTRACE_STATE_NOAGENT);
  pmtracecounter("bytes", 3);
  pmtracestate(PMTRACE_STATE_NONE);
  const std::string lines = testing::internal::GetCapturedStderr();
  expect_line(lines, "connecting to ");
  expect_line(lines, "point \"place\"\n");
  expect_line(lines, "observation \"size\", value 1.5");
  expect_line(lines, "begin \"work\"\n");
  expect_line(lines, "transaction \"work\", seconds ");
  expect_line(lines, "abort \"work\"\n");
  expect_line(lines, "counter \"bytes\", value 3 (no agent: dropped)\n");
  expect_line(lines, "PDU received: type 0x7050, 16 bytes, payload 00 00 00 02\n");
  expect_line(lines, "PDU sent: type 0x7060, ");
  expect_line(lines, "PDU sent: type 0x7063, ");
  expect_line(lines, "PDU received: type 0x7064, ");
  EXPECT_EQ(agent.total(TraceType::Counter, "bytes").count, 0u);
  EXPECT_EQ(agent.total(TraceType::Observe, "size").sum, 1.5);
}

}  // namespace
}  // namespace pcp::trace
