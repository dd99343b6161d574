// SPDX-License-Identifier: GPL-3.0-or-later
// SnapshotFeed: pulls snapshots of an engine in this process on its own thread, converts and merges them there, and
// hands over whole views. At most one view is on its way to the receiver; a slow receiver gets the newest only.
// Owns:     its thread.    Threads: methods from the GUI thread; `published` arrives there.
#pragma once

#include <QObject>
#include <QThread>
#include <QTimer>
#include <functional>
#include <memory>

#include "gui/bridge/view.h"
#include "runtime/engine/snapshot.h"

namespace larder::gui {

using FetchSnapshot = std::function<std::shared_ptr<const engine::Snapshot>(std::uint64_t since)>;

// Lives on the feed's thread.
class FeedWorker : public QObject {
  Q_OBJECT

 public:
  explicit FeedWorker(FetchSnapshot fetch);

 public Q_SLOTS:
  void setRate(int per_second);
  void taken();  // the receiver has the last view

 Q_SIGNALS:
  void published(const larder::gui::SnapshotPtr& view);

 private:
  void tick();

  FetchSnapshot fetch_;
  QTimer timer_;
  SnapshotPtr merged_;
  bool unsent_ = false;  // merged_ is newer than what was sent
  bool on_way_ = false;
};

class SnapshotFeed : public QObject {
  Q_OBJECT

 public:
  SnapshotFeed(FetchSnapshot fetch, QObject* parent);
  ~SnapshotFeed() override;
  void setRate(int per_second);

 Q_SIGNALS:
  void published(const larder::gui::SnapshotPtr& view);

 private:
  QThread thread_;
  FeedWorker* worker_;
};

}  // namespace larder::gui
