// SPDX-License-Identifier: Apache-2.0
// Codec of the control API's answers: snapshots, their parts and verb results as JSON. Names are the structs' member
// names, ids and times are numbers, enums are words in snake_case; API.md has the list. The window's remote client
// reads a Snapshot back from it, so no member may be left out.
// Threads:  any; pure.
#pragma once

#include <string>
#include <string_view>

#include "runtime/engine/snapshot.h"
#include "runtime/engine/verbs.h"
#include "runtime/settings/settings.h"

namespace larder::http {

std::string snapshot_json(const engine::Snapshot& snapshot);

// One list of it: {"epoch": n, "<name>": […]}. Names: tree, requests, tenants, keys, pins, entries, packs, models,
// jobs; empty text for another name.
std::string part_json(const engine::Snapshot& snapshot, std::string_view name);

// One request; empty when it is not there.
std::string request_json(const engine::Snapshot& snapshot, RequestId id);

// The same of one job.
std::string job_json(const engine::Snapshot& snapshot, JobId id);

std::string result_json(const engine::VerbResult& result);
std::string settings_json(const settings::Settings& settings);

// OpenAI's GET /v1/models and /v1/models/{name}: models that are ready. The second is empty for an unknown name.
std::string model_list_json(const engine::Snapshot& snapshot);
std::string model_json(const engine::Snapshot& snapshot, std::string_view name);

}  // namespace larder::http
