// SPDX-License-Identifier: GPL-3.0-or-later
// TreeModel: the prefix tree as an outline, the table twin of the drawn icicle. Nodes are held by key; a new snapshot
// inserts, moves and removes what differs, so selection and unfolded branches survive splits and joins of runs.
// Threads: GUI thread.
#pragma once

#include <QAbstractItemModel>
#include <memory>
#include <unordered_map>
#include <vector>

#include "gui/bridge/tree_rows.h"
#include "gui/bridge/view.h"

namespace larder::gui {

class TreeModel final : public QAbstractItemModel {
  Q_OBJECT

 public:
  enum Column { kLabel, kTokens, kBlocks, kBytes, kTier, kHits, kLastHit, kCompute, kColumns };

  explicit TreeModel(QObject* parent = nullptr);
  ~TreeModel() override;

  void setView(const SnapshotPtr& view);
  QModelIndex indexOfKey(std::uint64_t key, int column = 0) const;
  std::uint64_t keyOf(const QModelIndex& index) const;
  // The row of the newest snapshot, or nothing.
  const TreeRow* rowOf(const QModelIndex& index) const;

  QModelIndex index(int row, int column, const QModelIndex& parent = QModelIndex()) const override;
  QModelIndex parent(const QModelIndex& child) const override;
  int rowCount(const QModelIndex& parent = QModelIndex()) const override;
  int columnCount(const QModelIndex& parent = QModelIndex()) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  struct Item {
    std::uint64_t key = 0;
    Item* parent = nullptr;
    std::vector<Item*> children;
    TreeRow row;    // as last told to the views
    TreeNode node;  // of a run
    QString label;
  };

  Item* itemOf(const QModelIndex& index) const;
  QModelIndex indexOfItem(const Item* item, int column) const;
  int placeOf(const Item* item) const;
  void insertItem(const TreeRows& rows, const TreeRow& row, Item* parent, int at, const SnapshotView& view);
  bool moveItem(Item* item, Item* parent, int at);
  void removeGone(const TreeRows& rows);
  void removeItem(Item* item);
  void forget(Item* item);
  void rebuild(const TreeRows& rows, const SnapshotView& view);
  void fill(Item& item, const TreeRows& rows, const TreeRow& row, const SnapshotView& view) const;
  QString text(const Item& item, int column) const;

  SnapshotPtr view_;
  Item top_;  // invisible; its one child is "All models"
  std::unordered_map<std::uint64_t, std::unique_ptr<Item>> items_;
};

}  // namespace larder::gui
