// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/record/recording.hpp"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <ctime>
#include <string_view>
#include <utility>

#include "base/clock.hpp"
#include "command/pcp/recorded_metrics.hpp"
#include "command/record/job.hpp"
#include "command/record/sampling_interval.hpp"

namespace pcp::trace::command {

namespace {

// Time for a program's data from before an interval's end to arrive.
constexpr Duration kGrace = std::chrono::milliseconds(20);

// Distributions are large, so the time between two grows with the run: about kColumns in the run,
// and one per minute after an hour. With many tags it is one per minute from the start.
constexpr int kColumns = 60;
constexpr Duration kLongestColumn = std::chrono::seconds(60);
constexpr Duration kColumnForEachTag = std::chrono::milliseconds(1);  // at least
constexpr std::size_t kManyInstances = 1000;

// Events wait in limited memory, so they are read this often.
constexpr Duration kBetweenEvents = std::chrono::seconds(1);

// A host's agent has windows of its own, so there are no shorter intervals to see.
constexpr Duration kIntervalOfHosts = std::chrono::seconds(1);

Duration first_interval(const RecordOptions& options) {
  return options.interval.value_or(options.host.empty() ? kFirstInterval : kIntervalOfHosts);
}

// The version that PCP's own loggers use.
ArchiveVersion configured_version() {
  const char* const version = pmGetOptionalConfig("PCP_ARCHIVE_VERSION");
  return version != nullptr && version == std::string_view("3") ? ArchiveVersion::V3
                                                                : ArchiveVersion::V2;
}

// The present time zone in the form of TZ, where hours count to the west.
std::string time_zone(Stamp at) {
  const auto seconds = static_cast<std::time_t>(at.seconds);
  std::tm parts{};
  ::localtime_r(&seconds, &parts);
  const std::string name(parts.tm_zone);
  const bool is_plain = name.size() >= 3 && std::all_of(name.begin(), name.end(), [](char letter) {
                          return std::isalpha(static_cast<unsigned char>(letter)) != 0;
                        });
  const long minutes = std::abs(parts.tm_gmtoff) / 60;
  std::string text = (is_plain ? name : "LOC") + (parts.tm_gmtoff > 0 ? "-" : "");
  text += std::to_string(minutes / 60);
  if (minutes % 60 != 0) text += ':' + std::to_string(minutes % 60);
  return text;
}

// The metric for what the recorder says of the recording; no agent has it.
pmDesc state_metric() {
  pmDesc metric{};
  metric.pmid = pmID_build(10, 4095, 0);
  metric.type = PM_TYPE_STRING;
  metric.indom = PM_INDOM_NULL;
  metric.sem = PM_SEM_DISCRETE;
  return metric;
}

void describe_state(ArchiveWriter& writer) {
  const pmDesc metric = state_metric();
  writer.add_metric(metric, kStateMetric);
  writer.add_text(PM_TEXT_PMID | PM_TEXT_ONELINE, metric.pmid, "whether the recording is complete");
  writer.add_text(
      PM_TEXT_PMID | PM_TEXT_HELP, metric.pmid,
      "The last value of the archive: \"complete\", or why calls may be missing. A"
      " recording that goes on,\nor whose recorder was killed, has none. The first value"
      " is \"begins\"; a part of a recording may have none.\nAfter a gap the value is"
      " \"has all values\".");
}

Stamp present() {
  const timespec now = to_timespec(wall_now().time_since_epoch());
  return {now.tv_sec, static_cast<std::int32_t>(now.tv_nsec)};
}

}  // namespace

Result<std::unique_ptr<Recording>> Recording::begin(const RecordOptions& options,
                                                    const std::string& what,
                                                    const std::string& host, Instant begin,
                                                    RecordedAgent& agent, RecordedAgent* also) {
  // In whole microseconds: pmval drops the rest, and would begin before the first record.
  Stamp at = present();
  at.nanoseconds -= at.nanoseconds % 1000;
  const std::string rank = options.command.empty() ? "" : rank_in_job(::getenv);
  Result<RecordingFolder> folder = options.folder.empty() ? RecordingFolder::create(what, rank, at)
                                                          : RecordingFolder::open(options.folder);
  if (!folder) return folder.error();
  const ArchiveLabel label{options.version.value_or(configured_version()),
                           static_cast<std::uint32_t>(::getpid()), at, host, time_zone(at)};
  Result<ArchiveWriter> writer = ArchiveWriter::create(folder->archive(), label);
  if (!writer) {
    folder->remove();
    return writer.error();
  }
  std::unique_ptr<Recording> made(
      new Recording(options, begin, *std::move(folder), *std::move(writer), agent, also, at));
  // At the archive's very begin: PCP's tools begin there.
  if (const Result<void> taken =
          made->take(SampleWriter::Extent::ChangesAndDistributions, at, begin, kBegins);
      !taken) {
    made->take_back();
    return taken.error();
  }
  made->registration_.emplace(what, made->folder_.archive());
  return made;
}

Recording::Recording(const RecordOptions& options, Instant begin, RecordingFolder folder,
                     ArchiveWriter writer, RecordedAgent& agent, RecordedAgent* also, Stamp at)
    : agent_(agent),
      grows_(!options.interval && options.host.empty()),
      interval_(first_interval(options)),
      begin_(begin),
      counted_from_(begin),
      distributions_at_(begin),
      folder_(std::move(folder)),
      last_(at),
      writer_(std::move(writer)),
      samples_(agent, writer_, at),
      events_(agent, writer_),
      events_at_(begin) {
  if (also != nullptr) also_.emplace(*also, writer_, at);
  describe_state(writer_);
}

// The wall clock may be set back.
Stamp Recording::stamp() { return last_ = std::max(last_, present()); }

Instant Recording::next_sample() const {
  return boundary(intervals_ + 1) + std::min(kGrace, interval_ / 2);
}

Instant Recording::next() const {
  const Instant sample = next_sample();
  return samples_.has_events() ? std::min(sample, events_at_ + kBetweenEvents) : sample;
}

Duration Recording::between_distributions(Instant now) const {
  if (samples_.instances() > kManyInstances) return kLongestColumn;
  const Duration by_size = kColumnForEachTag * static_cast<std::int64_t>(samples_.instances());
  return std::min(std::max((now - begin_) / kColumns, by_size), kLongestColumn);
}

Result<void> Recording::take_next() {
  const Instant now = steady_now();
  return now < next_sample() ? take_events(stamp(), now) : take_interval(now);
}

Result<void> Recording::take_interval(Instant now) {
  const bool with_distributions = now >= distributions_at_ + between_distributions(now);
  if (with_distributions) distributions_at_ = now;
  intervals_ = intervals_until(now);
  Result<void> taken = take(with_distributions ? SampleWriter::Extent::ChangesAndDistributions
                                               : SampleWriter::Extent::Changes,
                            stamp(), now);
  if (grows_) lengthen_interval(now);
  return taken;
}

// The running interval becomes longer, so each value is in one interval. If this one has ended
// meanwhile, the next sample tries again.
void Recording::lengthen_interval(Instant now) {
  const Duration longer = interval_after(now - begin_, samples_.instances());
  if (longer == interval_ || !agent_.change_interval(longer, now)) return;
  counted_from_ = boundary(intervals_);
  intervals_ = 0;
  interval_ = longer;
}

Result<void> Recording::finish(const std::string& missing) {
  // An interval that has ended, but whose sample may not be due yet.
  if (const Instant now = steady_now(); intervals_until(now) > intervals_)
    static_cast<void>(take_interval(now));
  // The unfinished interval is taken as if it had ended.
  const Result<void> taken =
      take(SampleWriter::Extent::Everything, stamp(), boundary(intervals_ + 1), {}, true);
  writer_.add_end(state_metric().pmid, !taken             ? taken.error().message
                                       : !missing.empty() ? missing
                                                          : std::string(kComplete));
  const Result<void> finished = writer_.finish();
  return finished ? taken : finished;
}

// A missing agent may return. The archive then has a gap, and after the gap a full sample.
Result<void> Recording::take(SampleWriter::Extent extent, Stamp at, Instant now,
                             std::string_view says, bool is_last) {
  if (writer_.failure()) return {};
  if (has_gap_) {
    extent = SampleWriter::Extent::Everything;
    says = kHasAll;
  }
  const TextSample statement(state_metric().pmid, says);
  Result<void> taken =
      samples_.sample(extent, at, now, says.empty() ? Sample() : statement.sample());
  if (!taken && !has_gap_) writer_.add_sample(at, {});
  has_gap_ = !taken;
  take_also(extent, at, is_last);
  return taken ? take_events(at, now) : taken;
}

// The last sample may come right after the one before. A rate over so short a time would only show
// how coarse a counter is.
void Recording::take_also(SampleWriter::Extent extent, Stamp at, bool is_last) {
  constexpr Duration kShortest = std::chrono::milliseconds(50);
  const Instant now = steady_now();
  const bool is_too_soon = now - also_at_ < std::min(interval_ / 2, kShortest);
  if (!also_ || (is_last && also_samples_ > 1 && is_too_soon)) return;
  also_at_ = now;
  also_samples_ = std::min(also_samples_ + 1, 2);
  static_cast<void>(also_->sample(extent, at, now));  // never fails
}

Result<void> Recording::take_events(Stamp at, Instant now) {
  if (!samples_.has_events() || writer_.failure()) return {};
  events_at_ = now;
  return events_.drain(at, now);
}

}  // namespace pcp::trace::command
