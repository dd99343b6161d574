// SPDX-License-Identifier: Apache-2.0
// JobList: the records of jobs, newest last.
// Bounds:   kMaxJobs; the oldest that ended goes first.    Threads: engine thread.
#pragma once

#include <deque>
#include <string>

#include "runtime/engine/job_info.h"

namespace larder::engine {

inline constexpr std::size_t kMaxJobs = 64;

class JobList {
 public:
  // A running one. The reference holds until the next call.
  JobInfo& add(std::string verb);
  JobInfo* find(JobId id);                        // null: it is older than what is kept
  JobId next_id() const { return JobId{next_}; }  // of the one that is added next
  const std::deque<JobInfo>& all() const { return jobs_; }

 private:
  std::deque<JobInfo> jobs_;
  std::uint64_t next_ = 1;
};

}  // namespace larder::engine
