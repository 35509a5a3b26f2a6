// SPDX-License-Identifier: LGPL-2.1-or-later
// The course of some tags over a run, read from one archive after the other.
//
// Thread: one.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <unordered_map>
#include <vector>

#include "command/pcp/archive_changes.hpp"
#include "command/run/histogram_slices.hpp"
#include "command/run/model.hpp"
#include "command/run/time_grid.hpp"

namespace pcp::trace::command {

// A level over the points of a grid, such as the number of open transactions: an archive gives a
// tag's level only when it changes. Levels of several tags and archives add up.
class LevelSum {
 public:
  // The present archive says a tag's level, which holds from this point on. Points do not go back.
  void set(std::size_t tag, std::size_t point, double level);

  // The archive's last sample before a gap: levels are unknown until the archive gives them again.
  void interrupt(std::size_t point);

  // The archive's last sample of all.
  void finish_archive(std::size_t point);

  // Gives as many points, NaN where an archive did not know; empty if no archive said anything.
  std::vector<float> finish(std::size_t points);

 private:
  struct Level {
    double value = 0;      // NaN: unknown
    std::size_t next = 0;  // the first point without it
  };

  void fill_before(Level& level, std::size_t point);

  std::vector<double> sums_;
  std::unordered_map<std::size_t, Level> levels_;  // of the present archive, by tag
};

// A tag whose course is needed, or several whose courses are added up.
struct WantedSeries {
  std::vector<std::size_t> tags{};    // numbers in TagNames of completed calls
  std::vector<std::size_t> failed{};  // and of failed ones
  std::optional<Ending> times_of{};   // the only calls whose times are needed
  std::size_t in_model = 0;           // index of Model::tags
  bool is_coarse = false;
  bool is_of_one_archive =
      true;  // false, also for several tags: data that cannot be added is omitted
  bool has_percentiles = true;  // those of completed calls are needed
};

class TagSeries : public ChangeTaker {
 public:
  // Requires: the grids keep their addresses.
  TagSeries(const Grid& fine, const Grid& coarse, const std::vector<WantedSeries>& wanted);

  void take_sample(const SampleTime& time) override;
  void take(const Change& change) override;
  void take_histogram(std::size_t tag, std::string_view text) override;

  // All of an archive has been taken. `has_in_flight`: the archive says how many transactions
  // were open.
  void finish_archive(bool has_in_flight);

  // In the order of `wanted`. Nothing may be taken afterwards.
  std::vector<Series> finish();

 private:
  // The distributions of calls with one ending.
  struct Slices {
    HistogramSlices slices;
    std::optional<WallTime> called_from{};  // before the first call since the latest text
  };

  struct Course {
    Series series;
    std::optional<Ending> times_of;
    bool is_of_one_archive = true;
    bool has_percentiles = true;
    bool is_of_one_tag = true;
    std::array<Slices, 2> slices;  // by ending
    LevelSum in_flight{};

    bool has_times_of(Ending ending) const { return times_of.value_or(ending) == ending; }
  };

  // The use of a number in TagNames.
  struct Use {
    Course* course = nullptr;  // null: for nothing
    Ending ending{};

    Slices& slices() const { return course->slices[static_cast<std::size_t>(ending)]; }
  };

  Use use_of(std::size_t tag);
  void finish_course(Course& course);
  static void add_growth(Course& course, Quantity quantity, TimeGrid& grid, double growth);
  std::optional<std::size_t> last_point(const Course& course);  // of the latest sample
  TimeGrid& grid_of(const Series& series) { return series.is_coarse ? coarse_ : fine_; }

  TimeGrid fine_;
  TimeGrid coarse_;
  std::vector<Course> courses_;
  std::vector<Use> by_tag_;
  SampleTime time_;
  bool has_sample_ = false;       // of the present archive
  bool has_in_flight_ = true;     // all archives so far give it
  WallTime histograms_at_{};      // the archive's latest ones
  WallTime histograms_before_{};  // the previous ones
};

}  // namespace pcp::trace::command
