// SPDX-License-Identifier: LGPL-2.1-or-later
#include <cstring>
#include <vector>

#include "command/pcp/archive_records.hpp"
#include "unit/command/archive_fixture.hpp"
#include "unit/command/event_arrays.hpp"

namespace pcp::trace::command {
namespace {

using ArchivedEvents = ArchiveFixture;

INSTANTIATE_TEST_SUITE_P(Versions, ArchivedEvents,
                         testing::Values(ArchiveVersion::V2, ArchiveVersion::V3), version_name);

TEST_P(ArchivedEvents, AreReadBackByteForByte) {
  const MadeEvents events(
      {{"request", 1, 0, 1'800'000'000'123'456'789, 2'000'000, 7, "a=b rows=12"},
       {"a tag of odd length", 2, 1, 1'800'000'000'123'456'790}},
      17);
  const MadeEvents none({});
  ArchiveWriter writer = create();
  writer.add_metric(described_events(), "tracing.events");
  writer.add_sample(at(1), events.sample());
  writer.add_sample(at(2), none.sample());
  finish_and_open(writer);
  for (const MadeEvents* const written : {&events, &none}) {
    pmapi::ArchiveResult* result = nullptr;
    ASSERT_EQ(pmapi::fetch_archive(&result), 0);
    ASSERT_EQ(result->numpmid, 1);
    ASSERT_EQ(result->vset[0]->numval, 1);
    const pmValueBlock& read = *result->vset[0]->vlist[0].value.pval;
    ASSERT_EQ(read.vlen, written->block()->vlen);
    EXPECT_EQ(std::memcmp(&read, written->block(), read.vlen), 0);
    pmapi::free_archive_result(result);
  }
}

// Such arrays may come from a host with a faulty agent.
TEST(EventsThatMakeNoSense, HaveNoRecords) {
  const MadeEvents events({{"request"}});
  const std::size_t length = events.block()->vlen;
  ASSERT_EQ(archived_events(*events.block()).size(), length);
  for (std::size_t cut = 8; cut < length; cut += 4) {
    std::vector<char> bytes(length);
    std::memcpy(bytes.data(), events.block(), length);
    auto* const block = reinterpret_cast<pmValueBlock*>(bytes.data());
    block->vlen = cut & 0xffffff;
    const std::string archived = archived_events(*block);
    EXPECT_EQ(archived.size(), 8U) << cut;
    EXPECT_EQ(archived.substr(4), std::string(4, '\0')) << cut;
  }
}

}  // namespace
}  // namespace pcp::trace::command
