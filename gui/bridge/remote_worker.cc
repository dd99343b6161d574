// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/bridge/remote_worker.h"

#include <QNetworkReply>
#include <algorithm>

#include "gui/bridge/remote_decode.h"

namespace larder::gui {
namespace {

constexpr int kTimeoutMs = 10'000;
constexpr int kLongestWaitMs = 30'000;

}  // namespace

RemoteWorker::RemoteWorker(const QUrl& url, const QString& key) : url_(url), key_(key.toUtf8()) {}

void RemoteWorker::start() {
  network_ = new QNetworkAccessManager(this);
  network_->setTransferTimeout(kTimeoutMs);
  timer_ = new QTimer(this);
  timer_->setSingleShot(true);
  connect(timer_, &QTimer::timeout, this, &RemoteWorker::pull);
  pull();
}

QNetworkRequest RemoteWorker::request(const QString& path) const {
  QUrl url = url_;
  const qsizetype query = path.indexOf(QLatin1Char('?'));
  url.setPath(QStringLiteral("/larder/v1/") + path.left(query));
  if (query >= 0) url.setQuery(path.mid(query + 1));
  QNetworkRequest made(url);
  if (!key_.isEmpty()) made.setRawHeader("Authorization", "Bearer " + key_);
  made.setHeader(QNetworkRequest::ContentTypeHeader, QByteArray("application/json"));
  made.setAttribute(QNetworkRequest::RedirectPolicyAttribute, QNetworkRequest::ManualRedirectPolicy);
  return made;
}

void RemoteWorker::setRate(int per_second) {
  rate_ = per_second;
  if (rate_ > 0 && !asking_ && failures_ == 0) pull();
}

void RemoteWorker::retry() {
  failures_ = 0;
  if (!asking_) pull();
}

void RemoteWorker::pull() {
  if (asking_ || network_ == nullptr) return;
  asking_ = true;
  const std::uint64_t since = merged_ ? merged_->epoch : 0;
  QNetworkReply* reply = network_->get(request(QStringLiteral("snapshot?since=%1").arg(since)));
  connect(reply, &QNetworkReply::finished, this, [this, reply] { answered(reply); });
}

void RemoteWorker::answered(QNetworkReply* reply) {
  reply->deleteLater();
  asking_ = false;
  const int status = reply->attribute(QNetworkRequest::HttpStatusCodeAttribute).toInt();
  if (status == 0) {
    fail(reply->errorString(), false);
    return;
  }
  const QByteArray body = reply->readAll();
  if (status != 200) {
    fail(decodeOutcome(body, status).message, status == 401 || status == 403 || status == 404);
    return;
  }
  auto delta = decodeSnapshot(body);
  if (!delta) {
    fail(tr("The answer is not a snapshot of Larder."), true);
    return;
  }
  if (failures_ > 0 || merged_ == nullptr) Q_EMIT reached();
  failures_ = 0;
  if (merged_ == nullptr || delta->view.epoch != merged_->epoch || delta->full) {
    merged_ = mergeViews(merged_, std::move(*delta));
    unsent_ = true;
  }
  if (unsent_ && !on_way_) {
    unsent_ = false;
    on_way_ = true;
    Q_EMIT published(merged_);
  }
  if (rate_ > 0) timer_->start(1000 / rate_);
}

void RemoteWorker::fail(const QString& reason, bool refused) {
  const int wait = std::min(kLongestWaitMs, 1000 << std::min(failures_, 5));
  ++failures_;
  Q_EMIT lost(refused ? reason : tr("%1 Trying again in %2 s.").arg(reason).arg(wait / 1000), refused);
  timer_->start(refused ? kLongestWaitMs : wait);
}

void RemoteWorker::send(const Command& command, const std::function<void(const CommandOutcome&)>& done) {
  const RemoteCall call = encodeCommand(command);
  if (call.path.isEmpty() || network_ == nullptr) {
    CommandOutcome refused;
    refused.code = QStringLiteral("unsupported");
    refused.message = tr("An attached window cannot do this; open Larder on that computer.");
    done(refused);
    return;
  }
  QNetworkReply* reply = network_->sendCustomRequest(request(call.path), call.method, call.body);
  connect(reply, &QNetworkReply::finished, this, [reply, done] {
    reply->deleteLater();
    const int status = reply->attribute(QNetworkRequest::HttpStatusCodeAttribute).toInt();
    CommandOutcome outcome = decodeOutcome(reply->readAll(), status);
    if (status == 0) {
      outcome.code = QStringLiteral("unavailable");
      outcome.message = reply->errorString();
    }
    done(outcome);
  });
}

}  // namespace larder::gui
