// SPDX-License-Identifier: GPL-3.0-or-later
// RemoteWorker: the thread's side of RemoteClient: asks for snapshots, decodes, merges, and carries verbs.
// Threads: lives on the client's network thread; its signals are queued to the GUI thread.
#pragma once

#include <QNetworkAccessManager>
#include <QNetworkRequest>
#include <QObject>
#include <QTimer>
#include <QUrl>
#include <functional>

#include "gui/bridge/command.h"
#include "gui/bridge/view.h"

class QNetworkReply;

namespace larder::gui {

// "soffitta:4114", "[::1]:4114": how people name where the engine is.
QString placeOf(const QUrl& url);

class RemoteWorker : public QObject {
  Q_OBJECT

 public:
  RemoteWorker(const QUrl& url, const QString& key);

  void start();  // on its thread
  void setRate(int per_second);
  void taken() { on_way_ = false; }
  void retry();
  void send(const Command& command, const std::function<void(const CommandOutcome&)>& done);

 Q_SIGNALS:
  void published(const larder::gui::SnapshotPtr& view);
  void reached();
  // refused: the server answered and will not; trying again soon does not help.
  void lost(const QString& reason, bool refused);

 private:
  void pull();
  void answered(QNetworkReply* reply);
  void take(const QByteArray& body);
  void fail(const QString& reason, bool refused);
  QNetworkRequest request(const QString& path) const;
  QString networkReason(const QNetworkReply& reply) const;
  QString refusal(int status, const QByteArray& body) const;

  const QUrl url_;
  const QByteArray key_;
  QNetworkAccessManager* network_ = nullptr;
  QTimer* timer_ = nullptr;
  SnapshotPtr merged_;
  int rate_ = 5;
  int failures_ = 0;
  bool linked_ = false;  // the last answer was a snapshot
  bool asking_ = false;
  bool unsent_ = false;
  bool on_way_ = false;
};

}  // namespace larder::gui
