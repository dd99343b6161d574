// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/engine_host.h"

#include <filesystem>
#include <utility>

#include "gui/bridge/convert.h"
#include "gui/bridge/local_client.h"
#include "runtime/entry/pack.h"

namespace larder::gui {

EngineHost::EngineHost(Options options, std::string folder, LocalClient& client)
    : options_(std::move(options)), folder_(std::move(folder)), client_(client) {}

EngineHost::~EngineHost() {
  if (thread_.joinable()) thread_.join();
  if (server_ != nullptr) server_->stop();
}

void EngineHost::start() {
  thread_ = std::thread([this] { open(); });
}

// This object outlives its thread (the destructor joins it), so the queued call finds it or is dropped by Qt.
void EngineHost::post(std::function<void()> call) {
  QMetaObject::invokeMethod(this, std::move(call), Qt::QueuedConnection);
}

void EngineHost::open() {
  engine::EngineOptions wanted;
  wanted.data_dir = folder_;
  wanted.overrides = options_.overrides;
  std::error_code failed;
  wanted.packs_dir = entry::find_packs_folder(std::filesystem::read_symlink("/proc/self/exe", failed).string());
  auto result = engine::Engine::open(std::move(wanted));
  if (!result.ok()) {
    const QString message = errorText(result.error());
    const bool held = result.error().code == ErrorCode::kConflict;
    const QString url = held ? toQt(result.error().context) : QString();
    post([this, message, held, url] {
      client_.fail(message);
      if (held) {
        Q_EMIT heldElsewhere(url, message);
      } else {
        Q_EMIT refused(static_cast<int>(Refusal::kData), message);
      }
    });
    return;
  }
  std::shared_ptr<engine::Engine> engine = std::move(result).value();
  post([this, engine] {
    engine_ = engine;
    client_.setEngine(engine);
    Q_EMIT opened();
  });
  if (options_.print_key) printKey(*engine);
  serve(*engine);
  loadModel(*engine);
}

void EngineHost::printKey(engine::Engine& engine) {
  engine.perform(engine.local_admin(), engine::CreateKey{{}, "--print-key", true, true},
                 [this](Result<engine::VerbResult> made) {
                   if (!made.ok()) return;
                   post([this, secret = toQt(made->secret)] { Q_EMIT keyMade(secret); });
                 });
}

void EngineHost::serve(engine::Engine& engine) {
  http::ServerOptions options = http::options_from(engine.settings());
  options.has_key = true;  // the window makes keys; an address beyond loopback still needs api.lan
  auto server = http::Server::start(engine, std::move(options));
  if (!server.ok()) {
    const bool taken = server.error().code == ErrorCode::kConflict;
    post([this, taken, message = errorText(server.error())] {
      client_.setApiState(QString(), message);
      Q_EMIT refused(static_cast<int>(taken ? Refusal::kPort : Refusal::kUsage), message);
    });
    return;
  }
  server_ = std::move(server).value();
  const std::string url = "http://" + server_->address();
  engine.announce(url);
  post([this, url = toQt(url)] { client_.setApiState(url, QString()); });
}

void EngineHost::loadModel(engine::Engine& engine) {
  if (options_.model.empty()) return;
  std::error_code failed;
  const std::string path = std::filesystem::absolute(options_.model, failed).string();
  engine.perform(engine.local_admin(), engine::LoadModel{path}, [this](Result<engine::VerbResult> loaded) {
    if (loaded.ok()) return;
    post([this, message = errorText(loaded.error())] { Q_EMIT refused(static_cast<int>(Refusal::kModel), message); });
  });
}

}  // namespace larder::gui
