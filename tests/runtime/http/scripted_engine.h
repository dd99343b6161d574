// SPDX-License-Identifier: Apache-2.0
// ScriptedEngine: stands in for larder_engine at link time, so that tests of the server decide what the engine answers
// and see what it was asked. A test links scripted_engine.cc instead of the engine's library.
// Threads:  any; one lock.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/engine/engine.h"

namespace larder::test {

class ScriptedEngine : public Clock {
 public:
  static constexpr const char* kAdminKey = "lk_admin";
  static constexpr const char* kPlainKey = "lk_plain";

  // Keys are kAdminKey and kPlainKey; an empty key is the tenant `local` when `keyless`.
  std::unique_ptr<engine::Engine> open();

  // What the engine answers, set before it is asked.
  bool keyless = false;
  bool is_ready = true;
  std::function<Result<std::shared_ptr<engine::TokenStream>>(const engine::Principal&, engine::Request)> on_submit;
  std::function<Result<engine::VerbResult>(const engine::Principal&, const engine::Verb&)> on_verb;
  engine::Snapshot snapshot;
  bool stale_snapshot = false;  // Snapshot::at stays 0

  // A stream that answers `texts` and ends; kept in `streams`.
  Result<std::shared_ptr<engine::TokenStream>> answer(const std::vector<std::string>& texts, bool finish = true);
  bool wait_cancelled(std::size_t stream);

  std::mutex mutex;
  std::vector<std::shared_ptr<engine::TokenStream>> streams;
  std::vector<engine::Request> requests;
  std::vector<engine::Principal> askers;

  Ticks now() const override { return SystemClock().now(); }
  WallTime wall() const override { return SystemClock().wall(); }
};

}  // namespace larder::test
