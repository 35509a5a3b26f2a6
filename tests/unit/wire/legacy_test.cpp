// SPDX-License-Identifier: LGPL-2.1-or-later
#include "wire/legacy.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "unit/wire/hex.hpp"
#include "unit/wire/samples.hpp"

namespace pcp::trace::wire {
namespace {

std::string data_hex(const LegacyData& data) {
  const std::string pdu = pdu_of(append_data, data);
  EXPECT_EQ(pdu.size(), data_pdu_bytes(data.tag.size()));
  EXPECT_EQ(written_again(PduType::Data, payload_of(pdu)), pdu);
  return to_hex(pdu);
}

std::string ack_hex(std::int32_t code) {
  const std::string pdu = pdu_of(append_ack, code);
  EXPECT_EQ(decode_ack(payload_of(pdu)), code);
  return to_hex(pdu);
}

// PCP's own library (6.0.3) sends these bytes.
TEST(LegacyData, EncodesWhatTheStockLibrarySends) {
  using enum TraceType;
  EXPECT_EQ(data_hex({Point, true, kLegacyPointValue, "one"}),
            "0000001c 00007051 00001234 01040280 bff00000 00000000 6f6e6500");
  EXPECT_EQ(data_hex({Point, true, kLegacyPointValue, "a"}),
            "0000001c 00007051 00001234 01020280 bff00000 00000000 61007e7e");
  EXPECT_EQ(data_hex({Point, true, kLegacyPointValue, "abcd"}),
            "00000020 00007051 00001234 01050280 bff00000 00000000 61626364 007e7e7e");
  EXPECT_EQ(data_hex({Observe, true, 3.5, "obs"}),
            "0000001c 00007051 00001234 01040380 400c0000 00000000 6f627300");
  EXPECT_EQ(data_hex({Counter, true, 2, "cnt"}),
            "0000001c 00007051 00001234 01040480 40000000 00000000 636e7400");
  EXPECT_EQ(data_hex({Transact, false, 0.125, "tx"}),
            "0000001c 00007051 00001234 01030100 3fc00000 00000000 7478007e");
}

TEST(LegacyData, CarriesTagsOfAllLengthsAndNaN) {
  for (std::size_t length = 1; length <= kMaxTagLength; ++length) {
    const std::string tag(length, '~');
    const std::string pdu = pdu_of(append_data, {TraceType::Point, true, kLegacyPointValue, tag});
    ASSERT_EQ(pdu.size(), data_pdu_bytes(length));
    ASSERT_EQ(pdu.size() % 4, 0u);
    ASSERT_EQ(decode_data(payload_of(pdu)).value().tag, tag);
  }
  std::string pdu = pdu_of(append_data, {TraceType::Observe, true, std::nan(""), "x"});
  pdu.back() = '?';  // it does not matter what it is padded with
  EXPECT_TRUE(std::isnan(decode_data(payload_of(pdu)).value().value));
}

TEST(LegacyData, IsRefusedIfAnythingContradictsTheFormat) {
  const struct {
    const char* what;
    const char* payload;
  } cases[] = {
      {"version 2", "02040280 bff00000 00000000 6f6e6500"},
      {"type 0", "01040080 bff00000 00000000 6f6e6500"},
      {"type 5", "01040580 bff00000 00000000 6f6e6500"},
      {"no tag length", "01000280 bff00000 00000000 6f6e6500"},
      {"no tag length, no tag", "01000280 bff00000 00000000"},
      {"empty tag", "01010280 bff00000 00000000 007e7e7e"},
      {"tag without NUL", "01040280 bff00000 00000000 6f6e6565"},
      {"NUL inside", "01040280 bff00000 00000000 6f006500"},
      {"tag longer than the PDU", "01050280 bff00000 00000000 6f6e6500"},
      {"PDU longer than the tag", "01040280 bff00000 00000000 6f6e6500 7e7e7e7e"},
  };
  for (const auto& [what, payload] : cases) EXPECT_FALSE(decode_data(from_hex(payload))) << what;
}

TEST(LegacyData, IsRefusedIfTruncatedAnywhere) {
  const std::string pdu = data_pdu();
  const std::string_view payload = payload_of(pdu);
  for (std::size_t length = 0; length < payload.size(); ++length) {
    EXPECT_FALSE(decode_data(std::string(payload.substr(0, length)))) << length;
  }
}

TEST(LegacyAck, IsOneWordWithAVersionATypeOrAnError) {
  EXPECT_EQ(ack_hex(1), "00000010 00007050 00001234 00000001");
  EXPECT_EQ(ack_hex(2), "00000010 00007050 00001234 00000002");
  EXPECT_EQ(ack_hex(-12010), "00000010 00007050 00001234 ffffd116");
  for (const char* payload : {"", "000001", "00000001 00"})
    EXPECT_FALSE(decode_ack(from_hex(payload))) << payload;
}

}  // namespace
}  // namespace pcp::trace::wire
