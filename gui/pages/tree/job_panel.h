// SPDX-License-Identifier: GPL-3.0-or-later
// JobPanel: the verbs over tiers that wait, work or ended last: how far, what stayed where it was and why, and a way to
// stop one. Hidden while there is none.
// Bounds:  kJobsShown rows: those that go on first.    Threads: GUI thread.
#pragma once

#include <QVector>
#include <QWidget>
#include <vector>

#include "gui/bridge/view.h"

class QLabel;
class QProgressBar;
class QPushButton;

namespace larder::gui {

class FactRows;
class Theme;

inline constexpr int kJobsShown = 3;

class JobPanel final : public QWidget {
  Q_OBJECT

 public:
  explicit JobPanel(const Theme& theme, QWidget* parent = nullptr);
  // verbs: the engine can be reached.
  void showJobs(const SnapshotView& view, bool verbs);

 Q_SIGNALS:
  void cancelWanted(quint64 job);

 private:
  struct Row {
    QWidget* box = nullptr;
    QLabel* title = nullptr;
    QLabel* state = nullptr;
    QProgressBar* bar = nullptr;
    QPushButton* cancel = nullptr;
    FactRows* facts = nullptr;
    QLabel* remarks = nullptr;
    std::uint64_t job = 0;
  };

  Row makeRow();
  void showRow(Row& row, const JobInfo& job, const SnapshotView& view, bool verbs);
  void restyle();

  const Theme& theme_;
  QLabel* head_;
  std::vector<Row> rows_;
};

}  // namespace larder::gui
