// SPDX-License-Identifier: Apache-2.0
// What larderctl shows without --json: tables and short paragraphs made from the API's JSON.
// Requires: nothing of the JSON; a member that is missing or of another type prints as '-'.
// Threads:  any; pure.
#pragma once

#include <string>
#include <string_view>

namespace larder::larderctl {

// `view`: status, models, tree, requests, request, tenants, keys, jobs, job,
// result. `body`: the API's answer.
std::string show(std::string_view view, const std::string& body);

}  // namespace larder::larderctl
