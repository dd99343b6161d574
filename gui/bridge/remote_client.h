// SPDX-License-Identifier: GPL-3.0-or-later
// RemoteClient: an engine behind the control API of another process. One thread does the HTTP, the JSON and the
// merging; a lost server is tried again after 1, 2, 4, … 30 s, one that refuses every 30 s, and the last values stay.
// It goes straight to that machine, past any proxy, because it carries the key. Bounds:  one snapshot request at a
// time; answers up to kMaxAnswerBytes. Owns:    its thread.    Threads: GUI thread.
#pragma once

#include <QThread>
#include <QUrl>

#include "gui/bridge/engine_client.h"

namespace larder::gui {

class RemoteWorker;

class RemoteClient final : public EngineClient {
  Q_OBJECT

 public:
  // key: as shown once when it was made; empty for keyless loopback.
  RemoteClient(const QUrl& url, const QString& key, QObject* parent = nullptr);
  ~RemoteClient() override;

  bool attached() const override { return true; }
  QString place() const override;
  void perform(Command command, QObject* context, Done done) override;
  AnswerStream* ask(Ask ask, QObject* owner) override;
  void fetchSettings(QObject* context, Settings done) override;
  void countTokens(Ask ask, QObject* context, Count done) override;
  void retryNow() override;

 protected:
  void applyRate(int per_second) override;

 private:
  QUrl url_;
  QThread thread_;
  RemoteWorker* worker_;
};

}  // namespace larder::gui
