// SPDX-License-Identifier: LGPL-2.1-or-later
// What the library keeps of an agent's WELCOME, and what it makes of PDUs from a time to come.
#include <string>

#include <gtest/gtest.h>

#include "delivery/batch_sender.hpp"

namespace pcp::trace::client {
namespace {

class Nowhere final : public Transport {
 public:
  void send(std::string_view) override {}
};

class AgentFeatures : public ::testing::Test {
 protected:
  bool take(const std::string& pdu) {
    const std::string_view payload = std::string_view(pdu).substr(wire::kHeaderBytes);
    return sender_.on_pdu(
        {wire::PduType{wire::read_u32(std::string_view(pdu).substr(4))}, 1, payload}, 0);
  }

  bool take_welcome(const wire::FeatureSet& features) {
    wire::Welcome welcome;
    welcome.agent_instance = 1;
    welcome.session_known = true;
    welcome.max_pdu_bytes = wire::kLeastMaxPduBytes;
    welcome.features = features;
    std::string pdu;
    wire::append_welcome(pdu, 1, welcome);
    return take(pdu);
  }

  Nowhere nowhere_;
  Pending pending_;
  DeliveryCounters counters_;
  BatchSender sender_{nowhere_, pending_, counters_, {}, [] { return wire::ClientCounters(); }};
};

TEST_F(AgentFeatures, AreThoseOfItsWelcome) {
  EXPECT_FALSE(sender_.agent_has(3));
  ASSERT_TRUE(take_welcome(wire::FeatureSet().set(3)));
  EXPECT_TRUE(sender_.agent_has(3));
  EXPECT_FALSE(sender_.agent_has(4));
}

TEST_F(AgentFeatures, AreAnothersAfterAReconnect) {
  ASSERT_TRUE(take_welcome(wire::FeatureSet().set(3)));
  sender_.disconnected();
  EXPECT_FALSE(sender_.agent_has(3));
  ASSERT_TRUE(take_welcome(wire::FeatureSet().set(4)));
  EXPECT_FALSE(sender_.agent_has(3));
  EXPECT_TRUE(sender_.agent_has(4));
}

TEST_F(AgentFeatures, MayBringPdusThatWeDoNotKnow) {
  ASSERT_TRUE(take_welcome({}));
  std::string pdu;
  wire::append_frame(pdu, wire::PduType{0x7099}, 1, "news");
  EXPECT_TRUE(take(pdu));
  EXPECT_TRUE(sender_.is_ready());
}

}  // namespace
}  // namespace pcp::trace::client
