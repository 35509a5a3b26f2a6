// SPDX-License-Identifier: LGPL-2.1-or-later
#include "agent/disk_thread.hpp"

#include "support/scratch_directory.hpp"
#include "unit/metrics/metrics_fixture.hpp"

namespace pcp::trace::agent {
namespace {

using DiskThreadTest = MetricsFixture;

TEST_F(DiskThreadTest, HasReservedNumbersWhenTheFirstSaveIsOver) {
  const ScratchDirectory directory;
  const InstanceFile file(directory / "10.trace");
  NumberKeeper numbers(
      file, reader_, [](const std::string&) {}, [] { return Instant{}; });
  {
    const DiskThread disk(numbers);
    disk.wait_for_first_save(std::chrono::minutes(1));
    EXPECT_GT(file.load().reserved[0], 0);
  }
}

}  // namespace
}  // namespace pcp::trace::agent
