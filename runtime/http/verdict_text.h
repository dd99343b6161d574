// SPDX-License-Identifier: Apache-2.0
// Verdicts on the wire: the plain English sentence and the JSON of a verdict. What a reader may see was decided by the
// engine before; here nothing is hidden and nothing is added.
// Threads:  any; pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/engine/token_stream.h"
#include "runtime/http/json_writer.h"

namespace larder::http {

// One or two sentences: what was reused, why not more, what it saved. Numbers with thousands separators, times in UTC.
std::string verdict_sentence(const kv::Verdict& verdict, const std::vector<Section>& sections);

// The members of kv::Verdict by their own names, as one object.
void write_verdict(JsonWriter& out, const kv::Verdict& verdict);

// The `larder` member of an answer: request, verdict, sentence, tier, saved_ms, counts, divergence, eviction, timings.
void write_larder(JsonWriter& out, RequestId request, const kv::Verdict& verdict, const std::vector<Section>& sections,
                  const engine::Timings& timings);

void write_timings(JsonWriter& out, const engine::Timings& timings);

}  // namespace larder::http
