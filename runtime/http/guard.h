// SPDX-License-Identifier: Apache-2.0
// Guards that every request passes before its body is read, on every bind: a web page in the user's browser reaches
// 127.0.0.1 too, so being local is no credential. Host stops DNS rebinding, Origin and Sec-Fetch-Site stop other sites'
// scripts, the JSON content type stops their forms. The key is the engine's business (routes.h).
// Ensures:  no answer carries an Access-Control header unless the origin is listed.
// Source:   the kinds of fault of CVE-2024-28224 and of ggml-org/llama.cpp#25655.
// Threads:  any; pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/http/message.h"

namespace larder::http {

struct GuardRules {
  bool lan = false;                          // any IP literal is then a good Host: a literal cannot be rebound
  std::vector<std::string> allowed_hosts;    // further names, lower case; with `lan` this machine's own
  std::vector<std::string> allowed_origins;  // exact, as a browser sends them
};

// The refusal (400, 403 or 415), or nothing when the request may go on.
std::optional<Answer> refuse(const RequestHead& head, const GuardRules& rules);

bool is_json_type(std::string_view content_type);
bool is_good_host(std::string_view host, std::string_view local_address, const GuardRules& rules);
// The key of `Authorization: Bearer` or `x-api-key`; empty when there is none.
std::string credential(const RequestHead& head);

// "%41" to "A"; nothing for a bad escape or an escaped NUL or control character.
std::optional<std::string> percent_decoded(std::string_view text);
// Value of `name` in a query string; nothing when it is not there.
std::optional<std::string> query_value(std::string_view query, std::string_view name);

}  // namespace larder::http
