// SPDX-License-Identifier: LGPL-2.1-or-later
#include "wire/frame.hpp"

#include <algorithm>
#include <cstring>

#include <gtest/gtest.h>

#include "unit/wire/samples.hpp"

namespace pcp::trace::wire {
namespace {

using Status = FrameReader::Status;

void feed(FrameReader& reader, std::string_view bytes) {
  std::copy(bytes.begin(), bytes.end(), reader.prepare(bytes.size()));
  reader.commit(bytes.size());
}

// A copy of a frame, which outlives the reader's buffer.
struct Copy {
  PduType type;
  std::uint32_t pid;
  std::string payload;
  bool operator==(const Copy&) const = default;
};

std::vector<Copy> drain(FrameReader& reader) {
  std::vector<Copy> frames;
  Frame frame;
  while (reader.next(frame) == Status::Frame) {
    frames.push_back({frame.type, frame.pid, std::string(frame.payload)});
  }
  return frames;
}

std::vector<Copy> read_in_pieces(std::string_view stream, const std::vector<std::size_t>& cuts) {
  FrameReader reader(kLeastMaxPduBytes);
  std::vector<Copy> frames;
  std::size_t from = 0;
  for (const std::size_t cut : cuts) {
    feed(reader, stream.substr(from, cut - from));
    from = cut;
    for (Copy& frame : drain(reader)) frames.push_back(std::move(frame));
  }
  feed(reader, stream.substr(from));
  for (Copy& frame : drain(reader)) frames.push_back(std::move(frame));
  EXPECT_EQ(reader.pending_bytes(), 0u);
  return frames;
}

std::string header(std::uint32_t length) {
  std::string bytes;
  append_u32(bytes, length);
  append_u32(bytes, static_cast<std::uint32_t>(PduType::Data));
  append_u32(bytes, kPid);
  return bytes;
}

std::string stream_of_all_pdus() {
  std::string stream;
  for (const std::string& pdu : all_pdus()) stream += pdu;
  return stream;
}

std::vector<Copy> all_frames() {
  std::vector<Copy> frames;
  for (const std::string& pdu : all_pdus()) {
    frames.push_back(
        {PduType{read_u32(std::string_view(pdu).substr(4))}, kPid, std::string(payload_of(pdu))});
  }
  return frames;
}

TEST(FrameReader, GivesAllPdusOfOneRead) {
  EXPECT_EQ(read_in_pieces(stream_of_all_pdus(), {}), all_frames());
}

TEST(FrameReader, AcceptsEverySplitInTwo) {
  const std::string stream = stream_of_all_pdus();
  for (std::size_t cut = 0; cut <= stream.size(); ++cut) {
    ASSERT_EQ(read_in_pieces(stream, {cut}), all_frames()) << "cut at " << cut;
  }
}

TEST(FrameReader, AcceptsSingleBytes) {
  const std::string stream = stream_of_all_pdus();
  std::vector<std::size_t> cuts;
  for (std::size_t i = 1; i < stream.size(); ++i) cuts.push_back(i);
  EXPECT_EQ(read_in_pieces(stream, cuts), all_frames());
}

TEST(FrameReader, AcceptsAnEmptyPayload) {
  FrameReader reader(kLeastMaxPduBytes);
  feed(reader, header(12));
  const auto frames = drain(reader);
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(frames[0].payload, "");
}

TEST(FrameReader, TellsHowMuchOfAnUnfinishedPduIsWaiting) {
  FrameReader reader(kLeastMaxPduBytes);
  feed(reader, data_pdu() + header(100) + "abc");
  EXPECT_EQ(drain(reader).size(), 1u);
  EXPECT_EQ(reader.pending_bytes(), 15u);
}

TEST(FrameReader, RefusesALengthBelowTheHeaders) {
  for (const std::uint32_t length : {0u, 1u, 11u}) {
    FrameReader reader(kLeastMaxPduBytes);
    feed(reader, header(length));
    Frame frame;
    EXPECT_EQ(reader.next(frame), Status::Malformed) << length;
  }
}

TEST(FrameReader, RefusesALengthAboveTheLimitWithoutWaitingForThePdu) {
  for (const std::uint32_t length : {1025u, 0x7fffffffu, 0x80000000u, 0xffffffffu}) {
    FrameReader reader(1024);
    feed(reader, header(length).substr(0, 4));
    Frame frame;
    EXPECT_EQ(reader.next(frame), Status::Malformed) << length;
  }
}

TEST(FrameReader, StaysMalformed) {
  FrameReader reader(1024);
  feed(reader, header(3) + data_pdu());
  Frame frame;
  EXPECT_EQ(reader.next(frame), Status::Malformed);
  EXPECT_EQ(reader.next(frame), Status::Malformed);
}

TEST(FrameReader, AcceptsAPduOfTheLimitItself) {
  FrameReader reader(1024);
  feed(reader, header(1024) + std::string(1012, 'x'));
  EXPECT_EQ(drain(reader).size(), 1u);
}

TEST(FrameReader, FollowsAChangedLimit) {
  FrameReader reader(1024);
  reader.set_max_pdu_bytes(2048);
  feed(reader, header(2048) + std::string(2036, 'x'));
  EXPECT_EQ(drain(reader).size(), 1u);
}

TEST(FrameReader, GivesPdusOfATypeThatItDoesNotKnow) {
  std::string stream;
  append_frame(stream, PduType{0x9999}, kPid, "?");
  FrameReader reader(1024);
  feed(reader, stream);
  const auto frames = drain(reader);
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(frames[0].type, PduType{0x9999});
}

// Quadratic work would make this test last for minutes.
TEST(FrameReader, ReadsALargeStreamOfSmallPdusAtOnce) {
  const std::string pdu = data_pdu();
  std::string chunk;
  while (chunk.size() < 64 * 1024) chunk += pdu;
  FrameReader reader(kLeastMaxPduBytes);
  std::size_t frames = 0;
  Frame frame;
  for (int i = 0; i < 512; ++i) {
    feed(reader, chunk);
    while (reader.next(frame) == Status::Frame) ++frames;
  }
  EXPECT_EQ(frames, 512 * (chunk.size() / pdu.size()));
}

TEST(FrameReader, KeepsTheBytesOfAnUnfinishedPduWhereTheyAreAsLongAsThereIsRoom) {
  FrameReader reader(kLeastMaxPduBytes);
  char* const room = reader.prepare(4096);
  const std::string begun = header(2000);
  std::memcpy(room, begun.data(), begun.size());
  reader.commit(begun.size());
  Frame frame;
  for (std::size_t i = begun.size(); i < 2000; ++i) {
    ASSERT_EQ(reader.next(frame), Status::NeedMore);
    ASSERT_EQ(reader.prepare(1), room + i);
    room[i] = 'x';
    reader.commit(1);
  }
  EXPECT_EQ(reader.next(frame), Status::Frame);
}

TEST(FrameReader, TakesNoMemoryForAPduThatWasOnlyAnnounced) {
  FrameReader reader(1 << 20);
  feed(reader, header(1 << 20));
  Frame frame;
  EXPECT_EQ(reader.next(frame), Status::NeedMore);
  reader.prepare(4096);
  EXPECT_LE(reader.buffer_bytes(), 2 * 4096u);
}

TEST(FrameReader, HoldsNoMoreThanTheLargestPduAndOneRead) {
  FrameReader reader(1 << 20);
  const std::string pdu = header(1 << 20) + std::string((1 << 20) - kHeaderBytes, 'x');
  std::size_t frames = 0;
  for (std::size_t from = 0; from < pdu.size(); from += 1000) {
    feed(reader, std::string_view(pdu).substr(from, 1000));
    frames += drain(reader).size();
    ASSERT_LE(reader.buffer_bytes(), pdu.size() + 1000);
  }
  EXPECT_EQ(frames, 1u);
}

TEST(FrameReader, GivesBackWhatALargePduNeeded) {
  FrameReader reader(1 << 20);
  feed(reader, header(1 << 20) + std::string((1 << 20) - kHeaderBytes, 'x'));
  EXPECT_EQ(drain(reader).size(), 1u);
  reader.prepare(4096);
  EXPECT_LE(reader.buffer_bytes(), 4096u);
}

}  // namespace
}  // namespace pcp::trace::wire
