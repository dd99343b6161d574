// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/job_list.h"

#include <gtest/gtest.h>

namespace larder::engine {
namespace {

TEST(JobList, KeepsTheNewestAndForgetsOnesThatEndedFirst) {
  JobList jobs;
  const JobId first = jobs.add("runs for long").id;
  const JobId second = jobs.add("ended").id;
  jobs.find(second)->done = true;
  for (std::size_t i = 2; i < kMaxJobs; ++i) jobs.add("more");
  EXPECT_EQ(jobs.all().size(), kMaxJobs);
  const JobId newest = jobs.add("one too many").id;
  EXPECT_EQ(jobs.all().size(), kMaxJobs);
  EXPECT_NE(jobs.find(first), nullptr);
  EXPECT_EQ(jobs.find(second), nullptr);
  EXPECT_EQ(jobs.all().back().id, newest);
  for (std::size_t i = 0; i < kMaxJobs; ++i) jobs.add("endless");
  EXPECT_EQ(jobs.all().size(), kMaxJobs);
  EXPECT_EQ(jobs.find(first), nullptr);
}

}  // namespace
}  // namespace larder::engine
