#include "agent/label_json.hpp"

#include <gtest/gtest.h>

namespace pcp::trace::agent {

namespace {

TEST(LabelJson, NamesTheTag) { EXPECT_EQ(tag_labels_json("query", nullptr), R"({"tag":"query"})"); }

TEST(LabelJson, EscapesQuotesBackslashesControlBytesAndWhatIsNotUtf8) {
  EXPECT_EQ(tag_labels_json("a\"b\\c", nullptr), R"({"tag":"a\"b\\c"})");
  EXPECT_EQ(tag_labels_json("a\nb\xff", nullptr), R"({"tag":"a\\x0ab\\xff"})");
  EXPECT_EQ(tag_labels_json("größe", nullptr), R"({"tag":"größe"})");
}

TEST(LabelJson, AddsServiceAndLabelsOfTheProcess) {
  const Origin origin{"shop", {{"zone", "eu"}, {"tier", "gold"}}};
  EXPECT_EQ(tag_labels_json("query", &origin),
            R"({"tag":"query","service":"shop","zone":"eu","tier":"gold"})");
  ClientView client;
  client.pid = 77;
  client.origin = origin;
  EXPECT_EQ(process_labels_json(client),
            R"({"pid":"77","service":"shop","zone":"eu","tier":"gold"})");
}

TEST(LabelJson, SaysWhoAProcessIsAsTheKernelKnowsIt) {
  ClientView client;
  client.pid = 77;
  client.uid = 1000;
  client.gid = 100;
  client.origin = {"shop", {{"userid", "0"}, {"groupid", "0"}, {"pid", "1"}}};
  EXPECT_EQ(process_labels_json(client),
            R"({"pid":"77","userid":"1000","groupid":"100","service":"shop"})");
  client.uid = client.gid = kUnknownUid;
  EXPECT_EQ(process_labels_json(client), R"({"pid":"77","service":"shop"})");
}

TEST(LabelJson, LeavesOutAnEmptyService) {
  const Origin origin{"", {{"zone", "eu"}}};
  EXPECT_EQ(tag_labels_json("query", &origin), R"({"tag":"query","zone":"eu"})");
}

TEST(LabelJson, LeavesOutNamesThatPcpDoesNotTake) {
  const Origin origin{"",
                      {{"", "a"}, {"9lives", "b"}, {"a b", "c"}, {"x\"", "d"}, {"k8s.pod_1", "e"}}};
  EXPECT_EQ(tag_labels_json("query", &origin), R"({"tag":"query","k8s.pod_1":"e"})");
}

TEST(LabelJson, KeepsTheFirstOfTwoLabelsOfOneName) {
  const Origin origin{"shop",
                      {{"service", "other"}, {"tag", "other"}, {"zone", "eu"}, {"zone", "us"}}};
  EXPECT_EQ(tag_labels_json("query", &origin), R"({"tag":"query","service":"shop","zone":"eu"})");
}

TEST(LabelJson, LeavesOutWhatIsTooLargeForPcp) {
  const Origin origin{"", {{"huge", std::string(60'000, 'x')}, {"zone", "eu"}}};
  EXPECT_EQ(tag_labels_json("query", &origin), R"({"tag":"query","zone":"eu"})");
}

}  // namespace

}  // namespace pcp::trace::agent
