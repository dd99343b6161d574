// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/bridge/remote_worker.h"

#include <QNetworkProxy>
#include <QNetworkReply>
#include <algorithm>

#include "gui/bridge/remote_decode.h"

namespace larder::gui {
namespace {

constexpr int kTimeoutMs = 10'000;  // without a byte
constexpr int kLongestWaitMs = 30'000;

constexpr const char* kTooLarge = "too large";  // property of a reply

// An answer that grows beyond what will be read is cut off while it comes; not much more of it is taken from the
// socket, however late this thread sees it.
void bound(QNetworkReply* reply) {
  reply->setReadBufferSize(kMaxAnswerBytes + kMaxAnswerBytes / 4);
  QObject::connect(reply, &QNetworkReply::readyRead, reply, [reply] {
    if (reply->bytesAvailable() <= kMaxAnswerBytes) return;
    reply->setProperty(kTooLarge, true);
    reply->abort();
  });
}

int statusOf(const QNetworkReply& reply) { return reply.attribute(QNetworkRequest::HttpStatusCodeAttribute).toInt(); }

// No answer, or only the start of one.
bool cut(const QNetworkReply& reply) {
  const auto error = reply.error();
  return statusOf(reply) == 0 ||
         (error != QNetworkReply::NoError && error < QNetworkReply::ProxyConnectionRefusedError);
}

}  // namespace

QString placeOf(const QUrl& url) {
  QUrl place;
  place.setHost(url.host());
  place.setPort(url.port(80));
  return place.authority();
}

RemoteWorker::RemoteWorker(const QUrl& url, const QString& key) : url_(url), key_(key.toUtf8()) {}

void RemoteWorker::start() {
  network_ = new QNetworkAccessManager(this);
  network_->setProxy(QNetworkProxy::NoProxy);  // the key goes to the engine's own machine and nowhere else
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
  made.setRawHeader("Accept-Encoding", "identity");  // what is bounded is what comes
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
  // After a loss another process may answer, and its epochs are its own.
  const std::uint64_t since = linked_ ? merged_->epoch : 0;
  QNetworkReply* reply = network_->get(request(QStringLiteral("snapshot?since=%1").arg(since)));
  bound(reply);
  connect(reply, &QNetworkReply::finished, this, [this, reply] { answered(reply); });
}

void RemoteWorker::answered(QNetworkReply* reply) {
  reply->deleteLater();
  asking_ = false;
  if (cut(*reply)) {
    fail(networkReason(*reply), false);
    return;
  }
  const int status = statusOf(*reply);
  const QByteArray body = reply->readAll();
  if (status == 200) {
    take(body);
  } else {
    fail(refusal(status, body), status < 500);
  }
}

void RemoteWorker::take(const QByteArray& body) {
  auto delta = decodeSnapshot(body);
  if (!delta) {
    fail(tr("What it answers is not a snapshot of Larder, or one of another version."), true);
    return;
  }
  if (linked_ && !delta->full && delta->view.started != merged_->started) {
    linked_ = false;  // another process than the one whose epoch was sent
    pull();
    return;
  }
  if (!linked_) Q_EMIT reached();
  linked_ = true;
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

QString RemoteWorker::networkReason(const QNetworkReply& reply) const {
  switch (reply.error()) {
    case QNetworkReply::ConnectionRefusedError:
      return tr("Nothing listens there: is larderd running?");
    case QNetworkReply::HostNotFoundError:
      return tr("No computer of the name %1 is known.").arg(url_.host());
    case QNetworkReply::RemoteHostClosedError:
      return tr("It closed the connection.");
    case QNetworkReply::OperationCanceledError:
      return reply.property(kTooLarge).toBool() ? tr("Its answer is larger than %1 MiB.").arg(kMaxAnswerBytes >> 20)
                                                : tr("Nothing came for %1 s.").arg(kTimeoutMs / 1000);
    default:
      return reply.errorString() + QLatin1Char('.');
  }
}

QString RemoteWorker::refusal(int status, const QByteArray& body) const {
  switch (status) {
    case 401:
      return key_.isEmpty()
                 ? tr("It wants a key: start the window with --key-file and a file that holds one.")
                 : tr("It does not know the key: start the window with --key-file and a key of that engine.");
    case 404:
      return tr("No Larder answers at this address.");
    default:
      return decodeOutcome(body, status).message;
  }
}

void RemoteWorker::fail(const QString& reason, bool refused) {
  const int wait = refused ? kLongestWaitMs : std::min(kLongestWaitMs, 1000 << std::min(failures_, 5));
  ++failures_;
  linked_ = false;
  Q_EMIT lost(refused ? reason : tr("%1 Trying again in %2 s.").arg(reason).arg(wait / 1000), refused);
  timer_->start(wait);
}

void RemoteWorker::send(const Command& command, const std::function<void(const CommandOutcome&)>& done) {
  const RemoteCall call = encodeCommand(command);
  if (call.path.isEmpty()) {
    CommandOutcome refused;
    refused.code = QStringLiteral("unsupported");
    refused.message = tr("An attached window cannot do this: open Larder on %1.").arg(url_.host());
    done(refused);
    return;
  }
  QNetworkReply* reply = network_->sendCustomRequest(request(call.path), call.method, call.body);
  bound(reply);
  connect(reply, &QNetworkReply::finished, this, [this, reply, done] {
    reply->deleteLater();
    if (!cut(*reply)) {
      done(decodeOutcome(reply->readAll(), statusOf(*reply)));
      return;
    }
    CommandOutcome unknown;
    unknown.code = QStringLiteral("unavailable");
    unknown.message = QStringLiteral("%1: %2").arg(placeOf(url_), networkReason(*reply));
    done(unknown);
  });
}

}  // namespace larder::gui
