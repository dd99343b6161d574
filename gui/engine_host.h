// SPDX-License-Identifier: GPL-3.0-or-later
// EngineHost: opens the engine and its API beside the window, on a thread of its own, and hands them to LocalClient;
// the window shows meanwhile. What it is not: it knows no page. Owns:     that thread, the engine and the server; its
// destructor stops the server first. Threads:  made and destroyed on the GUI thread; its signals arrive there.
#pragma once

#include <QObject>
#include <QString>
#include <functional>
#include <memory>
#include <thread>

#include "gui/options.h"
#include "runtime/engine/engine.h"
#include "runtime/http/server.h"

namespace larder::gui {

class LocalClient;

// As larderd's: 2 usage, 3 model refused, 4 port taken, 5 data folder refused.
enum class Refusal : int { kUsage = 2, kModel = 3, kPort = 4, kData = 5 };

class EngineHost : public QObject {
  Q_OBJECT

 public:
  EngineHost(Options options, std::string folder, LocalClient& client);
  ~EngineHost() override;
  void start();
  // For tests and the stall measurement.
  std::shared_ptr<engine::Engine> engine() const { return engine_; }

 Q_SIGNALS:
  void opened();
  void refused(int code, const QString& message);
  void heldElsewhere(const QString& url, const QString& message);  // url empty: it serves nobody
  void keyMade(const QString& key);

 private:
  void open();
  void serve(engine::Engine& engine);
  void printKey(engine::Engine& engine);
  void loadModel(engine::Engine& engine);
  void post(std::function<void()> call);

  const Options options_;
  const std::string folder_;
  LocalClient& client_;
  std::shared_ptr<engine::Engine> engine_;
  std::unique_ptr<http::Server> server_;
  std::thread thread_;
};

}  // namespace larder::gui
