// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/job_list.h"

#include <algorithm>
#include <utility>

namespace larder::engine {

JobInfo& JobList::add(std::string verb) {
  if (jobs_.size() >= kMaxJobs) {
    const auto ended = std::find_if(jobs_.begin(), jobs_.end(), [](const JobInfo& job) { return job.done; });
    jobs_.erase(ended == jobs_.end() ? jobs_.begin() : ended);
  }
  JobInfo job;
  job.id = JobId{next_++};
  job.verb = std::move(verb);
  return jobs_.emplace_back(std::move(job));
}

JobInfo* JobList::find(JobId id) {
  const auto found = std::find_if(jobs_.begin(), jobs_.end(), [id](const JobInfo& job) { return job.id == id; });
  return found == jobs_.end() ? nullptr : &*found;
}

}  // namespace larder::engine
