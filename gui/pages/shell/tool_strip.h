// SPDX-License-Identifier: GPL-3.0-or-later
// ToolStrip: the bar above the pages: which engine, time range, pause, undo, command field.
// Threads: GUI thread.
#pragma once

#include <QWidget>

class QLabel;
class QProgressBar;
class QPushButton;
class QToolButton;

namespace larder::gui {

class EngineClient;
class SearchField;
class Segmented;
struct SnapshotView;
class Theme;

class ToolStrip final : public QWidget {
  Q_OBJECT

 public:
  ToolStrip(const Theme& theme, EngineClient& client, QWidget* parent = nullptr);
  qint64 rangeMs() const;
  SearchField* commandField() const { return command_; }
  // A model that is being loaded, as text, bar and cancel; nothing otherwise.
  void showJob(const SnapshotView& view);

 Q_SIGNALS:
  void rangeChanged();
  void undoWanted();

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  void restyle();

  const Theme& theme_;
  EngineClient& client_;
  QPushButton* place_;
  Segmented* range_;
  QPushButton* pause_;
  QToolButton* undo_;
  QWidget* job_;
  QLabel* job_text_;
  QProgressBar* job_bar_;
  quint32 job_model_ = 0;
  SearchField* command_;
};

}  // namespace larder::gui
