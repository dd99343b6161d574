// SPDX-License-Identifier: Apache-2.0
// Codec of the control API's requests: path and JSON body in, engine::Verb out. Pure; whether the caller may is the
// engine's business.
// Errors:   a Fault naming the member; kNotFound for a path that names no verb.
// Threads:  any.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "runtime/engine/verbs.h"
#include "runtime/http/fields.h"

namespace larder::http {

// `segments`: the path below /larder/v1, decoded: {"keys", "7"} with DELETE, {"pin"} with POST, …
// An empty body counts as {}.
std::variant<engine::Verb, Fault> parse_verb(std::string_view method, const std::vector<std::string>& segments,
                                             std::string_view body, const JsonLimits& limits);

// Methods that such a path knows besides GET: "POST", "DELETE" or "".
std::string_view verb_method(const std::vector<std::string>& segments);

// A decimal id; nothing for other text.
std::optional<std::uint64_t> parse_id(std::string_view text, std::uint64_t max);

}  // namespace larder::http
