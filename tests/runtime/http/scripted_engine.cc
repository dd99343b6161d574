// SPDX-License-Identifier: Apache-2.0
#include "tests/runtime/http/scripted_engine.h"

#include <chrono>
#include <thread>

#include "runtime/settings/settings.h"

namespace larder::engine {

class Engine::Core {
 public:
  explicit Core(test::ScriptedEngine& chosen) : script(chosen) {}
  test::ScriptedEngine& script;
  settings::Settings settings;
};

Engine::Engine(std::unique_ptr<Core> core) : core_(std::move(core)) {}
Engine::~Engine() = default;

// The script travels as the clock.
Result<std::unique_ptr<Engine>> Engine::open(EngineOptions options) {
  auto* script = const_cast<test::ScriptedEngine*>(dynamic_cast<const test::ScriptedEngine*>(options.clock));
  INVARIANT(script != nullptr);
  return std::unique_ptr<Engine>(new Engine(std::make_unique<Core>(*script)));
}

Result<std::shared_ptr<TokenStream>> Engine::submit(const Principal& who, Request request) {
  {
    std::lock_guard lock(core_->script.mutex);
    core_->script.requests.push_back(request);
    core_->script.askers.push_back(who);
  }
  return core_->script.on_submit(who, std::move(request));
}

void Engine::perform(const Principal& who, Verb verb, std::function<void(Result<VerbResult>)> done) {
  std::thread([this, who, verb = std::move(verb), done = std::move(done)] {
    done(core_->script.on_verb(who, verb));
  }).detach();
}

std::shared_ptr<const Snapshot> Engine::snapshot(const Principal& /*who*/, std::uint64_t since) {
  auto copy = std::make_shared<Snapshot>(core_->script.snapshot);
  copy->since = since;
  copy->at = core_->script.stale_snapshot ? 0 : core_->script.wall();
  return copy;
}

Result<Principal> Engine::authenticate(std::string_view key) const {
  if (key == test::ScriptedEngine::kAdminKey) return Principal{TenantId{1}, KeyId{1}, true, "home"};
  if (key == test::ScriptedEngine::kPlainKey) return Principal{TenantId{3}, KeyId{2}, false, "kids"};
  if (key.empty() && core_->script.keyless) return Principal{TenantId{2}, KeyId{}, false, "local"};
  return Error{ErrorCode::kUnauthorized, "the engine's own words", "a context"};
}

Principal Engine::local_admin() const { return Principal{TenantId{1}, KeyId{}, true, "home"}; }
const settings::Settings& Engine::settings() const { return core_->settings; }
std::string Engine::metrics_text() const { return "larder_up 1\n"; }
bool Engine::ready() const { return core_->script.is_ready; }

}  // namespace larder::engine

namespace larder::test {

std::unique_ptr<engine::Engine> ScriptedEngine::open() {
  engine::EngineOptions options;
  options.clock = this;
  return engine::Engine::open(std::move(options)).value();
}

Result<std::shared_ptr<engine::TokenStream>> ScriptedEngine::answer(const std::vector<std::string>& texts,
                                                                    bool finish) {
  auto stream = std::make_shared<engine::TokenStream>(RequestId{41});
  {
    std::lock_guard lock(mutex);
    streams.push_back(stream);
  }
  engine::Started started;
  started.request = RequestId{41};
  started.model = "tiny";
  stream->write(started);
  for (const std::string& text : texts) stream->write(engine::Piece{0, text, {}});
  if (finish) {
    stream->write(engine::ChoiceDone{0, engine::FinishReason::kStop});
    engine::Finished end;
    end.usage = {10, 4, static_cast<std::uint32_t>(texts.size())};
    stream->write(end);
  }
  return stream;
}

bool ScriptedEngine::wait_cancelled(std::size_t index) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  std::shared_ptr<engine::TokenStream> stream;
  {
    std::lock_guard lock(mutex);
    stream = streams.at(index);
  }
  while (!stream->cancelled()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::yield();
  }
  return true;
}

}  // namespace larder::test
