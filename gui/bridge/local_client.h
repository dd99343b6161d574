// SPDX-License-Identifier: GPL-3.0-or-later
// LocalClient: the engine in this process. It starts without one, so that the window can show before files are read;
// whoever opens the engine hands it over with setEngine or says with fail why there is none.
// Owns:     a share of the engine; the feed's thread.    Threads: GUI thread.
#pragma once

#include <memory>

#include "gui/bridge/engine_client.h"
#include "runtime/engine/engine.h"

namespace larder::gui {

class Mailbox;
class SnapshotFeed;

class LocalClient final : public EngineClient {
  Q_OBJECT

 public:
  explicit LocalClient(QObject* parent = nullptr);
  ~LocalClient() override;

  void setEngine(std::shared_ptr<engine::Engine> engine);
  void fail(const QString& reason);
  // Where the API answers, or the sentence that says why it does not.
  void setApiState(const QString& url, const QString& error);

  bool attached() const override { return false; }
  QString place() const override;
  void perform(Command command, QObject* context, Done done) override;
  AnswerStream* ask(Ask ask, QObject* owner) override;
  void fetchSettings(QObject* context, Settings done) override;
  void countTokens(Ask ask, QObject* context, Count done) override;

 protected:
  void applyRate(int per_second) override;

 private:
  std::shared_ptr<engine::Engine> engine_;
  std::shared_ptr<Mailbox> mailbox_;
  SnapshotFeed* feed_ = nullptr;
  int rate_ = 5;
};

}  // namespace larder::gui
