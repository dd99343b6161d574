// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/bridge/remote_client.h"

#include <QPointer>

#include "gui/bridge/answer_stream.h"
#include "gui/bridge/remote_worker.h"

namespace larder::gui {

RemoteClient::RemoteClient(const QUrl& url, const QString& key, QObject* parent)
    : EngineClient(parent), url_(url), worker_(new RemoteWorker(url, key)) {
  worker_->moveToThread(&thread_);
  connect(&thread_, &QThread::started, worker_, &RemoteWorker::start);
  connect(&thread_, &QThread::finished, worker_, &QObject::deleteLater);
  connect(worker_, &RemoteWorker::published, this, [this](const SnapshotPtr& view) {
    publish(view);
    QMetaObject::invokeMethod(worker_, &RemoteWorker::taken, Qt::QueuedConnection);
  });
  connect(worker_, &RemoteWorker::reached, this, [this] {
    setLink(LinkState::kConnected, QString());
    setApi(QStringLiteral("http://") + place(), QString());
  });
  connect(worker_, &RemoteWorker::lost, this, [this](const QString& reason, bool refused) {
    setLink(refused ? LinkState::kRefused : view()->epoch == 0 ? LinkState::kFailed : LinkState::kLost, reason);
  });
  thread_.setObjectName(QStringLiteral("remote"));
  thread_.start();
}

RemoteClient::~RemoteClient() {
  thread_.quit();
  thread_.wait();
}

QString RemoteClient::place() const { return placeOf(url_); }

void RemoteClient::applyRate(int per_second) {
  QMetaObject::invokeMethod(worker_, [worker = worker_, per_second] { worker->setRate(per_second); });
}

void RemoteClient::retryNow() {
  QMetaObject::invokeMethod(worker_, [worker = worker_] { worker->retry(); });
}

void RemoteClient::perform(Command command, QObject* context, Done done) {
  const QPointer<QObject> alive(context);
  // The worker lives no longer than this object, so a queued call back to it finds it or is dropped by Qt.
  const auto back = [this, alive, done = std::move(done)](const CommandOutcome& outcome) {
    QMetaObject::invokeMethod(
        this,
        [alive, done, outcome] {
          if (alive && done) done(outcome);
        },
        Qt::QueuedConnection);
  };
  QMetaObject::invokeMethod(worker_,
                            [worker = worker_, command = std::move(command), back] { worker->send(command, back); });
}

AnswerStream* RemoteClient::ask(Ask, QObject* owner) {
  return new RefusedStream(tr("Prompts are sent from the window on %1 or over its API.").arg(url_.host()), owner);
}

void RemoteClient::fetchSettings(QObject* context, Settings done) {
  const QPointer<QObject> alive(context);
  QMetaObject::invokeMethod(
      this,
      [alive, done = std::move(done)] {
        if (alive && done) done({});
      },
      Qt::QueuedConnection);
}

void RemoteClient::countTokens(Ask, QObject* context, Count done) {
  const QPointer<QObject> alive(context);
  QMetaObject::invokeMethod(
      this,
      [alive, done = std::move(done), reason = tr("Tokens are counted in the window on %1.").arg(url_.host())] {
        if (alive && done) done(0, reason);
      },
      Qt::QueuedConnection);
}

}  // namespace larder::gui
