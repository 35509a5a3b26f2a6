// SPDX-License-Identifier: LGPL-2.1-or-later
// The course of some tags over a run, out of its archives, one after the other.
//
// Thread: one.
#pragma once

#include <vector>

#include "command/model/archive_changes.hpp"
#include "command/model/histogram_slices.hpp"
#include "command/model/model.hpp"
#include "command/model/time_grid.hpp"

namespace pcp::trace::command {

// A tag whose course is wanted.
struct WantedSeries {
  std::size_t tag = 0;       // number in TagNames
  std::size_t in_model = 0;  // index of Model::tags
  bool is_coarse = false;
  bool is_of_one_archive = true;  // else what does not add up is left out
};

class TagSeries : public ChangeTaker {
 public:
  // The grids stay where they are.
  TagSeries(const Grid& fine, const Grid& coarse, const std::vector<WantedSeries>& wanted);

  void take_sample(const SampleTime& time) override;
  void take(const Change& change) override;
  void take_histogram(std::size_t tag, std::string_view text) override;

  // In the order in which they were wanted. Nothing is to be taken after it.
  std::vector<Series> finish();

 private:
  struct Course {
    Series series;
    bool is_of_one_archive = true;
    HistogramSlices slices;
  };

  Course* course_of(std::size_t tag);
  void take_grown(Series& series, const Change& change);
  void finish_course(Course& course);
  TimeGrid& grid_of(const Series& series) { return series.is_coarse ? coarse_ : fine_; }

  TimeGrid fine_;
  TimeGrid coarse_;
  std::vector<Course> courses_;
  std::vector<std::size_t> by_tag_;  // index of courses_ and 1, or 0
  SampleTime time_;
  Moment histograms_at_{};      // the last ones, of this archive
  Moment histograms_before_{};  // the ones before these
};

}  // namespace pcp::trace::command
