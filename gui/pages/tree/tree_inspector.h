// SPDX-License-Identifier: GPL-3.0-or-later
// TreeInspector: the selected run: what it is, where it lies, what it cost and saved, and what can be done with it. A
// verb names its cost before it is clicked.
// Threads: GUI thread.
#pragma once

#include <QWidget>

#include "gui/bridge/view.h"
#include "gui/widgets/fact_rows.h"

class QHBoxLayout;
class QLabel;
class QPushButton;
class QVBoxLayout;

namespace larder::gui {

class JobPanel;
class Theme;
class VerbButton;

class TreeInspector final : public QWidget {
  Q_OBJECT

 public:
  explicit TreeInspector(const Theme& theme, QWidget* parent = nullptr);
  // key 0: nothing is selected. verbs: the engine can be reached.
  void showRow(const SnapshotView& view, std::uint64_t key, bool verbs);
  bool pinned() const { return pinned_; }
  // Where the selected run may go, at its button.
  void popupMoves();
  // To which scheme it may be rounded; what is rounded is asked to be computed again.
  void popupCodecs();

 Q_SIGNALS:
  void pinWanted();
  void unpinWanted();
  void deleteWanted();
  void moveWanted(const QString& to, bool keep);
  void verifyWanted();
  void compressWanted(const QString& scheme);
  void decompressWanted();
  void cancelWanted(quint64 job);
  void requestWanted(quint64 id);

 private:
  void setChips(const QVector<QString>& texts);
  static FactRows::Facts groupFacts(const struct TreeSums& all);
  static FactRows::Facts runFacts(const struct TreeNode& node, const struct TreeRow& row, WallTime now);
  static QString copiesInMemory(const struct TreeSums& sums);
  void showTierCosts(const struct TreeNode& node, std::uint64_t block_bytes);
  void showRequests(const SnapshotView& view, const struct TreeNode& node);
  void restyle();

  const Theme& theme_;
  QLabel* head_;
  QLabel* title_;
  QHBoxLayout* chips_;
  QVector<QWidget*> chip_widgets_;
  QVector<QString> chip_texts_;
  FactRows* facts_;
  QLabel* verbs_head_;
  VerbButton* pin_;
  VerbButton* unpin_;
  VerbButton* move_;
  VerbButton* verify_;
  VerbButton* compress_;
  VerbButton* decompress_;
  VerbButton* delete_;
  JobPanel* jobs_;
  QLabel* requests_head_;
  QVector<QPushButton*> requests_;
  bool pinned_ = false;
};

}  // namespace larder::gui
