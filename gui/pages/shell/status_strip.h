// SPDX-License-Identifier: GPL-3.0-or-later
// StatusStrip: engine state, rates and what the window itself costs, along the lower edge. Each part is a button to the
// page that explains it.
// Threads: GUI thread.
#pragma once

#include <QElapsedTimer>
#include <QTimer>
#include <QWidget>

class QHBoxLayout;
class QLabel;
class QPushButton;

namespace larder::gui {

class EngineClient;
struct SnapshotView;
class Theme;

class StatusStrip final : public QWidget {
  Q_OBJECT

 public:
  StatusStrip(const Theme& theme, EngineClient& client, QWidget* parent = nullptr);
  void showNow(qint64 range_ms);

 Q_SIGNALS:
  void pageWanted(const QString& id);

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  QPushButton* addPart(const QString& name, const QString& page);
  void showEngine(const SnapshotView& view);
  void showCost();

  const Theme& theme_;
  EngineClient& client_;
  QHBoxLayout* row_;
  QPushButton* engine_;
  QPushButton* decode_;
  QPushButton* reuse_;
  QPushButton* pool_;
  QPushButton* work_;
  QPushButton* dropped_;
  QLabel* cost_;
  QTimer cost_timer_;
  QElapsedTimer since_;
  double cpu_before_ms_ = 0;
};

}  // namespace larder::gui
