// SPDX-License-Identifier: LGPL-2.1-or-later
// What comes from a socket may be anything. These tests are most telling when built with sanitizers
// (-DPCP_TRACE_SANITIZE=address,undefined).
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "unit/wire/samples.hpp"

namespace pcp::trace::wire {
namespace {

// What events.hpp promises of a span, and that all of it can be read.
bool is_kept(const Span& span) {
  std::size_t bytes = span.reason.size();
  for (const SpanAttribute& attribute : span.attributes)
    bytes += std::string(attribute.key).size() + std::string(attribute.text).size();
  for (const SpanLink& link : span.links)
    if (!link.trace.is_set() || link.span == 0) return false;
  return bytes <= kMaxEventsPduBytes && span.attributes.size() <= kMaxAttributes &&
         span.links.size() <= kMaxLinks && span.places != 0 &&
         (is_event(span.kind) || (span.trace.is_set() && span.span != 0));
}

// Gives a payload to all decoders. The copy ends where the payload ends, so that ASan sees who
// reads on. What is accepted must keep what batch.hpp promises.
void decode_as_everything(std::string_view payload) {
  const std::vector<char> copy(payload.begin(), payload.end());
  const std::string_view bytes(copy.data(), copy.size());
  decode_ack(bytes);
  decode_hello(bytes);
  decode_welcome(bytes);
  decode_batch_ack(bytes);
  decode_bye(bytes);
  decode_events_ack(bytes);
  decode_control(bytes);
  if (const auto data = decode_data(bytes)) {
    ASSERT_TRUE(is_tag(data->tag));
  }
  std::vector<TagDefinition> tags;
  if (decode_tags(bytes, tags)) {
    for (const TagDefinition& tag : tags) ASSERT_TRUE(is_tag(tag.name));
  }
  Events events;
  if (decode_events(bytes, events)) {
    ASSERT_GT(events.sequence, 0u);
    for (const Span& span : events.spans) ASSERT_TRUE(is_kept(span));
  }
  Batch batch;
  if (!decode_batch(bytes, batch)) return;
  ASSERT_GT(batch.sequence, 0u);
  for (const OpenCount& count : batch.in_flight) {
    ASSERT_LE(count.open, kMaxOpen);
    ASSERT_LE(count.oldest_ns, kMaxOpenAgeNs);
  }
  for (const DeltaEntry& entry : batch.entries) {
    ASSERT_FALSE(entry.delta.empty());
    ASSERT_TRUE(std::isfinite(entry.delta.sum));
    Histogram histogram;
    ASSERT_TRUE(histogram.merge_packed(entry.histogram));
    if (has_histogram(entry.type)) {
      ASSERT_EQ(histogram.total() + entry.delta.nonfinite + entry.delta.unbinned,
                entry.delta.count);
    }
  }
}

TEST(Decoders, SurviveEveryTruncation) {
  for (const std::string& pdu : all_pdus()) {
    const std::string_view payload = payload_of(pdu);
    for (std::size_t length = 0; length <= payload.size(); ++length) {
      decode_as_everything(payload.substr(0, length));
    }
  }
}

TEST(Decoders, SurviveEveryByteInEveryPlace) {
  for (const std::string& pdu : all_pdus()) {
    for (std::size_t place = 0; place < payload_of(pdu).size(); ++place) {
      for (int byte = 0; byte < 256; ++byte) {
        std::string payload(payload_of(pdu));
        payload[place] = static_cast<char>(byte);
        decode_as_everything(payload);
      }
    }
  }
}

TEST(Decoders, SurviveATruthValueThatIsMissing) {
  for (const std::string_view payload :
       {"\x08\x01\x2a\x01\x58", "\x08\x01\x38", "\x08\x01\x10\x01\x1a\x01\x60"})
    decode_as_everything(payload);
}

TEST(Decoders, TakeATruthValueOfAnyLength) {
  Batch batch;
  ASSERT_TRUE(decode_batch({"\x08\x01\x38\x80\x00", 5}, batch));
  EXPECT_FALSE(batch.in_flight_anew);
  ASSERT_TRUE(decode_batch({"\x08\x01\x2a\x08\x10\x04\x18\x01\x58\x80\x80\x00", 12}, batch));
  EXPECT_FALSE(batch.entries.at(0).is_added);
  Events events;
  ASSERT_TRUE(decode_events({"\x08\x01\x10\x01\x1a\x07\x10\x03\x58\x01\x60\x80\x00", 13}, events));
  EXPECT_FALSE(events.spans.at(0).aborted);
}

TEST(Decoders, SurviveRandomMutations) {
  std::mt19937 random(20260101);
  const std::vector<std::string> pdus = all_pdus();
  for (int round = 0; round < 50'000; ++round) {
    std::string payload(payload_of(pdus[random() % pdus.size()]));
    for (auto changes = random() % 8 + 1; changes > 0; --changes) {
      const std::size_t place = random() % (payload.size() + 1);
      switch (random() % 3) {
        case 0:
          payload.insert(place, 1, static_cast<char>(random()));
          break;
        case 1:
          payload.erase(place, random() % 4);
          break;
        default:
          if (place < payload.size()) payload[place] = static_cast<char>(random());
      }
    }
    decode_as_everything(payload);
  }
}

TEST(Decoders, SurviveNoise) {
  std::mt19937 random(7);
  for (int round = 0; round < 20'000; ++round) {
    std::string payload(random() % 64, '\0');
    for (char& byte : payload) byte = static_cast<char>(random());
    decode_as_everything(payload);
  }
}

TEST(FrameReader, SurvivesRandomMutationsOfAStream) {
  std::mt19937 random(99);
  std::string stream;
  for (const std::string& pdu : all_pdus()) stream += pdu;
  for (int round = 0; round < 5'000; ++round) {
    std::string mutated = stream;
    for (auto changes = random() % 4 + 1; changes > 0; --changes) {
      mutated[random() % mutated.size()] = static_cast<char>(random());
    }
    FrameReader reader(kLeastMaxPduBytes);
    std::copy(mutated.begin(), mutated.end(), reader.prepare(mutated.size()));
    reader.commit(mutated.size());
    Frame frame;
    while (reader.next(frame) == FrameReader::Status::Frame) decode_as_everything(frame.payload);
  }
}

// Work and memory grow with the size of a PDU, and no faster.
TEST(Decoders, TakeTheLargestPduOfTinyPartsAtOnce) {
  std::string body;
  Delta once;
  once.count = 1;
  while (body.size() < (1 << 20)) append_delta(body, 0, TraceType::Point, once, {});
  std::string pdu;
  append_batch(pdu, kPid, 1, {}, body);
  Batch batch;
  EXPECT_TRUE(decode_batch(payload_of(pdu), batch));
  EXPECT_LT(batch.entries.capacity() * sizeof(DeltaEntry), 64 * pdu.size());
}

TEST(Decoders, TakeTheLargestEventsOfTinyPartsAtOnce) {
  std::string body;
  const Span least{.kind = SpanKind::Point, .places = 1};
  while (body.size() < kMaxEventsPduBytes - kEventsOverheadBytes) append_span(body, least);
  std::string pdu;
  append_events(pdu, kPid, 1, 1, {}, body);
  Events events;
  EXPECT_TRUE(decode_events(payload_of(pdu), events));
  EXPECT_LT(events.spans.capacity() * sizeof(Span), 64 * pdu.size());
}

}  // namespace
}  // namespace pcp::trace::wire
