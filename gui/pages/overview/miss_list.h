// SPDX-License-Identifier: GPL-3.0-or-later
// MissList: causes worth mending, the dearest first: what, who, how often, seconds lost. A row opens the newest
// request. Threads: GUI thread.
#pragma once

#include <QAbstractButton>
#include <QVector>

#include "gui/bridge/view.h"
#include "gui/pages/overview/figures.h"

class QLabel;

namespace larder::gui {

class Theme;

class MissRow final : public QAbstractButton {
  Q_OBJECT

 public:
  explicit MissRow(const Theme& theme, QWidget* parent = nullptr);
  void setMiss(const Miss& miss, const QString& tenant);
  RequestId request() const { return miss_.newest; }
  QSize sizeHint() const override { return QSize(300, 46); }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  const Theme& theme_;
  Miss miss_;
  QString tenant_;
};

class MissList final : public QWidget {
  Q_OBJECT

 public:
  explicit MissList(const Theme& theme, QWidget* parent = nullptr);
  void setMisses(const QVector<Miss>& misses, const SnapshotView& view);

 Q_SIGNALS:
  void requestWanted(quint64 id);

 private:
  static constexpr int kRows = 5;
  QVector<MissRow*> rows_;
  QLabel* none_;
};

}  // namespace larder::gui
