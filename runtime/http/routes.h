// SPDX-License-Identifier: Apache-2.0
// Routes: which path means what. Authenticates, parses, asks the engine, prints; API.md lists every path.
// Ensures:  every path but GET / and GET /healthz needs a credential; a bad key and a missing one get the same answer.
// Errors:   as answers with the status of errors.h; principal(): kUnauthorized, always in the same words.
// Threads:  any; no state but a counter for seeds. Never waits for the engine.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/clock.h"
#include "runtime/engine/engine.h"
#include "runtime/http/guard.h"
#include "runtime/http/json_value.h"
#include "runtime/http/message.h"

namespace larder::http {

struct ParsedRequest;

class Routes {
 public:
  // `seed`: of the seeds given to requests that name none.
  Routes(engine::Engine& engine, GuardRules rules, JsonLimits limits, std::uint64_t seed);

  std::optional<Answer> screen(const RequestHead& head) const;
  Reply handle(Request request);

 private:
  enum class Route { kRoot, kHealth, kReady, kMetrics, kModels, kModel, kChat, kCompletion, kControl, kUnknown };
  struct Target {
    Route route = Route::kUnknown;
    std::string_view methods;           // for Allow: "GET, HEAD"
    std::vector<std::string> segments;  // below /larder/v1, or the model's name
  };

  static Target target_of(const RequestHead& head);
  Result<engine::Principal> principal(const RequestHead& head) const;
  Reply complete(const engine::Principal& who, bool chat, const Request& request);
  Reply control(const engine::Principal& who, const Target& target, const Request& request);
  Reply control_get(const engine::Principal& who, const std::vector<std::string>& segments, const RequestHead& head);

  engine::Engine& engine_;
  const GuardRules rules_;
  const JsonLimits limits_;
  const std::uint64_t seed_;
  std::atomic<std::uint64_t> unseeded_{0};
  const SystemClock clock_;
};

}  // namespace larder::http
