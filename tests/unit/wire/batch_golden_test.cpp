// SPDX-License-Identifier: LGPL-2.1-or-later
// The bytes of each PDU of version 2 must be written and read. docs/protocol.md explains them. A
// change of them breaks clients.
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "unit/wire/hex.hpp"
#include "unit/wire/samples.hpp"

namespace pcp::trace::wire {
namespace {

struct Golden {
  const char* what;
  std::string pdu;
  const char* bytes;
};

std::vector<Golden> golden_pdus() {
  return {
      {"HELLO", hello_pdu(),
       "00000043 00007060 00001234 "
       "0a10a0a1 a2a3a4a5 a6a7a8a9 aaabacad aeaf10b4 241a0473 686f7022 03776562 "
       "2a0a0a04 7a6f6e65 12026575 2a090a05 656d7074 791200"},
      {"WELCOME", welcome_pdu(),
       "00000025 00007061 00001234 "
       "09080706 05040302 01100118 07208080 4028a08d 06320201 28"},
      {"TAGS", tags_pdu(),
       "00000033 00007062 00001234 "
       "0a051203 6f6e650a 1e08ac02 120a6275 79206120 626f6f6b 22026d73 2a09616c 6c206f66 "
       "206974"},
      {"a BATCH with a delta of each type", batch_pdu(),
       "000000d0 00007063 00001234 "
       "08081080 84af5f18 80c2d72f 221008e8 07108407 1814200a 28053002 38022a2c "
       "08011001 18033100 00000000 00f03f39 00000000 0000fc3f 41000000 000000d0 "
       "3f520900 c0fe0302 031e031e 2a2a0801 10012002 61000000 00000018 40690000 "
       "00000000 00407100 00000000 0010407a 07008080 0402031e 2a041002 18032a16 "
       "08021003 18013100 00000000 0000c052 05008180 04022a10 08ac0210 04180231 "
       "00000000 00002640 2a1a0802 10041802 31000000 00000020 40390000 00000000 "
       "08405801"},
      {"a BATCH of what is in flight", in_flight_pdu(),
       "0000002c 00007063 00001234 "
       "08092206 08e80710 e807320d 08011002 1880dea0 cb0520b5 24320308 ac023801"},
      {"BATCHACK", batch_ack_pdu(), "0000000e 00007064 00001234 0808"},
      {"the WELCOME of an agent that captures", capturing_welcome_pdu(),
       "00000089 00007061 00001234 "
       "09080706 05040302 01100118 07208080 4028a08d 06320201 02380442 60080312 "
       "2a08071a 24746167 3d726571 75657374 20736c6f 7765723d 31306d73 206c696d "
       "69743d31 3030302f 73200112 2c080910 021a2674 61673d2a 206c696d 69743d35 "
       "302f7320 7069643d 34363630 206b696e 643d6f62 73657276 6518a09c 01"},
      {"CONTROL", control_pdu(),
       "0000006c 00007067 00001234 "
       "0803122a 08071a24 7461673d 72657175 65737420 736c6f77 65723d31 306d7320 "
       "6c696d69 743d3130 30302f73 2001122c 08091002 1a267461 673d2a20 6c696d69 "
       "743d3530 2f732070 69643d34 36363020 6b696e64 3d6f6273 65727665 18a09c01"},
      {"EVENTS", events_pdu(),
       "00000104 00007066 00001234 "
       "08051003 1a800108 01100119 154d314e c1467a18 20c0c393 0729a64d b377352f "
       "f94b3136 470e0e9d 92cea339 b702a90b aa67f000 41d88acd 423f5c99 53488302 "
       "50b52458 0560016a 08736f6c 64206f75 74720b0a 04757365 72120361 64617210 "
       "0a056974 656d7319 00000000 00000840 7a121102 01000000 00000019 04030000 "
       "00000000 8001021a 3808ac02 10041900 97394ec1 467a1829 a64db377 352ff94b "
       "3136470e 0e9d92ce a339b702 a90baa67 f00050b5 24580489 01000000 00000031 "
       "40221508 07100b18 01200228 03300438 80808080 80808020 22040809 10022a0b "
       "09887766 55443322 1110052a 0b090100 00000000 00001001"},
      {"EVENTSACK", events_ack_pdu(),
       "0000000e 00007068 00001234 "
       "0805"},
      {"WANTED", wanted_pdu(),
       "00000026 00007069 00001234 "
       "0a0b0988 77665544 33221110 050a0b09 01000000 00000000 1001"},
      {"BYE", bye_pdu(), "0000000e 00007065 00001234 0801"},
      {"a BYE without complaint", pdu_of(append_bye, ByeReason::Done),
       "0000000c 00007065 00001234"},
  };
}

TEST(GoldenBytes, AreWrittenAndRead) {
  for (const auto& [what, pdu, bytes] : golden_pdus()) {
    EXPECT_EQ(to_hex(pdu), bytes) << what;
    EXPECT_EQ(to_hex(written_again(type_of(pdu), payload_of(pdu)).value_or("")), bytes) << what;
  }
}

std::string without_spaces(std::string text) {
  std::erase_if(text, [](char c) { return c == ' ' || c == '\n'; });
  return text;
}

TEST(GoldenBytes, AreTheExamplesInTheProtocolPage) {
  std::ostringstream page;
  page << std::ifstream(PROTOCOL_PAGE).rdbuf();
  const std::string text = without_spaces(page.str());
  std::vector<Golden> examples = golden_pdus();
  examples.push_back({"DATA", data_pdu(), {}});
  examples.push_back({"ACK", pdu_of(append_ack, 2), {}});
  for (const auto& [what, pdu, bytes] : examples)
    EXPECT_NE(text.find(without_spaces(to_hex(pdu))), text.npos) << what;
}

}  // namespace
}  // namespace pcp::trace::wire
