// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/bridge/snapshot_feed.h"

#include <utility>

#include "gui/bridge/convert.h"

namespace larder::gui {

FeedWorker::FeedWorker(FetchSnapshot fetch) : fetch_(std::move(fetch)), timer_(this) {
  connect(&timer_, &QTimer::timeout, this, &FeedWorker::tick);
}

void FeedWorker::setRate(int per_second) {
  if (per_second <= 0) {
    timer_.stop();
    return;
  }
  timer_.start(1000 / per_second);
  tick();
}

void FeedWorker::tick() {
  const std::uint64_t known = merged_ ? merged_->epoch : 0;
  const auto snapshot = fetch_(known);
  if (snapshot != nullptr && (merged_ == nullptr || snapshot->epoch != known)) {
    merged_ = mergeViews(merged_, toDelta(*snapshot));
    unsent_ = true;
  }
  if (unsent_ && !on_way_) {
    unsent_ = false;
    on_way_ = true;
    Q_EMIT published(merged_);
  }
}

void FeedWorker::taken() { on_way_ = false; }

SnapshotFeed::SnapshotFeed(FetchSnapshot fetch, QObject* parent)
    : QObject(parent), worker_(new FeedWorker(std::move(fetch))) {
  worker_->moveToThread(&thread_);
  connect(&thread_, &QThread::finished, worker_, &QObject::deleteLater);
  connect(worker_, &FeedWorker::published, this, [this](const SnapshotPtr& view) {
    Q_EMIT published(view);
    QMetaObject::invokeMethod(worker_, &FeedWorker::taken, Qt::QueuedConnection);
  });
  thread_.setObjectName(QStringLiteral("snapshots"));
  thread_.start(QThread::LowPriority);
}

SnapshotFeed::~SnapshotFeed() {
  thread_.quit();
  thread_.wait();
}

void SnapshotFeed::setRate(int per_second) {
  QMetaObject::invokeMethod(worker_, [worker = worker_, per_second] { worker->setRate(per_second); });
}

}  // namespace larder::gui
