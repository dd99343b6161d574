// SPDX-License-Identifier: GPL-3.0-or-later
// TreePage: the prefix tree drawn, its outline as a table, and the verbs on the selection.
// Threads: GUI thread.
#pragma once

#include "gui/bridge/command.h"
#include "gui/pages/page.h"

class QComboBox;
class QLabel;
class QScrollArea;
class QSlider;
class QStackedWidget;
class QTreeView;

namespace larder::gui {

class EmptyState;
class PrefixTreeView;
class SearchField;
class Segmented;
class TreeInspector;
class TreeModel;

class TreePage final : public Page {
  Q_OBJECT

 public:
  TreePage(const QString& title, PageContext context);
  ~TreePage() override;

  QWidget* inspector() override;
  void openWith(const QVariant& argument) override;  // a node id
  void focusSearch() override;
  PrefixTreeView* tree() const { return tree_; }

 protected:
  void showSnapshot(const SnapshotView& view) override;
  int refreshMs() const override { return 100; }

 private:
  void buildControls();
  void buildEmpty();
  void showSummary();
  void showInspector();
  void followOutline();
  void selectInOutline(quint64 key);
  void pinOrUnpin();
  void pin(NodeId node, const QString& label);
  void unpin(NodeId node, const QString& label);
  void askDelete();
  void askTierVerb(const Command& dry, const Command& real);
  static QString tierVerbText(const JobInfo& job);
  void askMove(const QString& to, bool keep);
  void askVerify();
  void askCompress(const QString& scheme);
  void askDecompress();
  void cancelJob(quint64 job);
  void sendTest();
  QString labelOf(std::uint64_t key) const;
  const struct TreeNode* selectedNode() const;

  PrefixTreeView* tree_;
  TreeModel* outline_model_;
  QTreeView* outline_;
  TreeInspector* inspector_;
  QScrollArea* inspector_scroll_;
  QStackedWidget* states_;
  EmptyState* empty_;
  Segmented* mode_;
  QComboBox* width_;
  SearchField* search_;
  QLabel* search_sum_;
  QLabel* counts_;
  QLabel* join_text_;
  QSlider* join_;
  QWidget* drawn_;
  QElapsedTimer outline_shown_;
  bool following_ = false;
};

}  // namespace larder::gui
