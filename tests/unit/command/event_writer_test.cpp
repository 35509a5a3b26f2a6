// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/record/event_writer.hpp"

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "command/pcp/span_event.hpp"
#include "unit/command/archive_fixture.hpp"
#include "unit/command/event_arrays.hpp"

namespace pcp::trace::command {
namespace {

// Gives the waiting arrays, one at a time.
class FakeEvents : public RecordedAgent {
 public:
  std::vector<std::unique_ptr<MadeEvents>> waiting;
  bool is_there = true;

  void add(const std::vector<MadeSpan>& spans, std::uint64_t missed = 0) {
    waiting.push_back(std::make_unique<MadeEvents>(spans, missed));
  }

  std::vector<RecordedMetric> metrics() override {
    return {{"tracing.events", described_events()}};
  }
  std::string text(unsigned, unsigned) override { return {}; }
  OwnedLabels labels(unsigned, unsigned) override { return {}; }
  Instances instances(pmInDom) override { return {}; }
  bool labels_changed() override { return false; }
  Result<Sample> read(std::span<const pmID>, Instant) override { return Sample(); }
  Result<Events> read_events(Instant) override {
    if (!is_there) return Error{"gone"};
    if (waiting.empty()) return Events();
    reading_ = std::move(waiting.front());
    waiting.erase(waiting.begin());
    return Events{reading_->sample(), !waiting.empty()};
  }

 private:
  std::unique_ptr<MadeEvents> reading_;
};

class RecordedEvents : public ArchiveFixture {
 protected:
  // For each record the number of its spans, and its number of missed ones.
  using Records = std::vector<std::pair<std::size_t, std::uint64_t>>;
  Records records() {
    Records all;
    for (pmapi::ArchiveResult* result = nullptr; pmapi::fetch_archive(&result) >= 0;) {
      const std::optional<SpanNews> news = read_events(*result->vset[0]->vlist[0].value.pval);
      EXPECT_TRUE(news);
      if (news) all.emplace_back(news->spans.size(), news->missed);
      pmapi::free_archive_result(result);
    }
    return all;
  }

  ArchiveWriter create_for_events() const {
    ArchiveWriter writer = create();
    writer.add_metric(described_events(), "tracing.events");
    return writer;
  }
};

INSTANTIATE_TEST_SUITE_P(Versions, RecordedEvents, testing::Values(ArchiveVersion::V2),
                         version_name);

TEST_P(RecordedEvents, AreARecordForEachReadingUntilThereAreNone) {
  FakeEvents source;
  source.add({{"a"}, {"b"}});
  source.add({}, 5);
  source.add({{"c"}}, 1);
  ArchiveWriter writer = create_for_events();
  EventWriter recorder(source, writer);
  ASSERT_TRUE(recorder.drain(at(1), {}));
  source.add({});  // nothing has happened, so no record is written
  ASSERT_TRUE(recorder.drain(at(2), {}));
  finish_and_open(writer);
  EXPECT_EQ(records(), (Records{{2, 0}, {0, 5}, {1, 1}}));
  EXPECT_EQ(recorder.left_out(), 0U);
}

TEST_P(RecordedEvents, AreCountedAsMissedWhereThereIsNoMoreRoom) {
  FakeEvents source;
  source.add({{"a"}, {"b"}});
  source.add({{"c"}, {"d"}, {"e"}}, 7);
  source.add({{"f"}});
  ArchiveWriter writer = create_for_events();
  EventWriter recorder(source, writer, source.waiting.front()->block()->vlen);
  ASSERT_TRUE(recorder.drain(at(1), {}));
  finish_and_open(writer);
  EXPECT_EQ(records(), (Records{{2, 0}, {0, 3 + 7}, {0, 1}}));
  EXPECT_EQ(recorder.left_out(), 4U);
}

TEST_P(RecordedEvents, FailAsTheirSourceDoes) {
  FakeEvents source;
  source.is_there = false;
  ArchiveWriter writer = create_for_events();
  EXPECT_EQ(EventWriter(source, writer).drain(at(1), {}).error().message, "gone");
}

}  // namespace
}  // namespace pcp::trace::command
