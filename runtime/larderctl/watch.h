// SPDX-License-Identifier: Apache-2.0
// Follows a job of the server until it ended: its progress on one line where standard error is a terminal.
// Errors:   as Client::send; an answer that is not a job is kCorrupt.    Threads: one; waits between two looks.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/base/result.h"
#include "runtime/larderctl/client.h"

namespace larder::larderctl {

// One line: "move to disk: 1,024 of 10,000 blocks, 20.0 MiB, 10 %". `job`: the API's job.
std::string progress_line(const std::string& job);
// Whether the job ended, and how: "" while it runs, else its state.
std::string ended_as(const std::string& job);

// The job's last answer.
Result<Reply> watch_job(const Client& client, const std::string& path);

}  // namespace larder::larderctl
