// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/models/tree_model.h"

#include <algorithm>

#include "gui/models/request_model.h"
#include "gui/models/words.h"
#include "gui/theme/label.h"
#include "gui/theme/numbers.h"

namespace larder::gui {
namespace {

bool sameFigures(const TreeRow& a, const TreeRow& b) { return a.own == b.own && a.all == b.all; }

}  // namespace

TreeModel::TreeModel(QObject* parent) : QAbstractItemModel(parent) {}
TreeModel::~TreeModel() = default;

TreeModel::Item* TreeModel::itemOf(const QModelIndex& index) const {
  return index.isValid() ? static_cast<Item*>(index.internalPointer()) : const_cast<Item*>(&top_);
}

int TreeModel::placeOf(const Item* item) const {
  const auto& siblings = item->parent->children;
  const auto at = std::find(siblings.begin(), siblings.end(), item);
  return static_cast<int>(at - siblings.begin());
}

QModelIndex TreeModel::indexOfItem(const Item* item, int column) const {
  if (item == &top_) return {};
  return createIndex(placeOf(item), column, const_cast<Item*>(item));
}

QModelIndex TreeModel::indexOfKey(std::uint64_t key, int column) const {
  const auto found = items_.find(key);
  return found == items_.end() ? QModelIndex() : indexOfItem(found->second.get(), column);
}

std::uint64_t TreeModel::keyOf(const QModelIndex& index) const { return index.isValid() ? itemOf(index)->key : 0; }

const TreeRow* TreeModel::rowOf(const QModelIndex& index) const {
  return index.isValid() ? &itemOf(index)->row : nullptr;
}

QModelIndex TreeModel::index(int row, int column, const QModelIndex& parent) const {
  const Item* above = itemOf(parent);
  if (row < 0 || column < 0 || column >= kColumns || row >= static_cast<int>(above->children.size())) return {};
  return createIndex(row, column, above->children[static_cast<std::size_t>(row)]);
}

QModelIndex TreeModel::parent(const QModelIndex& child) const {
  return child.isValid() ? indexOfItem(itemOf(child)->parent, 0) : QModelIndex();
}

int TreeModel::rowCount(const QModelIndex& parent) const {
  return parent.column() > 0 ? 0 : static_cast<int>(itemOf(parent)->children.size());
}

int TreeModel::columnCount(const QModelIndex&) const { return kColumns; }

void TreeModel::fill(Item& item, const TreeRows& rows, const TreeRow& row, const SnapshotView& view) const {
  item.row = row;
  if (const TreeNode* node = rows.nodeOf(row)) item.node = *node;
  item.label = rows.labelOf(row, view);
}

// Rows stand parents first, so a run that was split finds the new run above it before it is moved there; what is gone
// is removed last, when its former children have left it.
void TreeModel::setView(const SnapshotPtr& view) {
  view_ = view;
  const TreeRows& rows = *view->tree;
  std::vector<int> next_place(rows.rows.size(), 0);
  for (std::size_t i = 0; i < rows.rows.size(); ++i) {
    const TreeRow& row = rows.rows[i];
    Item* parent = &top_;
    int at = 0;
    if (row.parent >= 0) {
      const auto above = static_cast<std::size_t>(row.parent);
      parent = items_.at(rows.rows[above].key).get();
      at = next_place[above]++;
    }
    const auto found = items_.find(row.key);
    if (found == items_.end()) {
      insertItem(rows, row, parent, at, *view);
    } else if (!moveItem(found->second.get(), parent, at)) {
      rebuild(rows, *view);
      return;
    } else {
      Item& item = *found->second;
      const TreeNode* node = rows.nodeOf(row);
      const QString label = rows.labelOf(row, *view);
      const bool changed =
          !sameFigures(item.row, row) || label != item.label || (node != nullptr && item.node != *node);
      if (changed) {
        fill(item, rows, row, *view);
        Q_EMIT dataChanged(indexOfItem(&item, 0), indexOfItem(&item, kColumns - 1));
      }
    }
  }
  removeGone(rows);
}

void TreeModel::insertItem(const TreeRows& rows, const TreeRow& row, Item* parent, int at, const SnapshotView& view) {
  auto item = std::make_unique<Item>();
  item->key = row.key;
  item->parent = parent;
  fill(*item, rows, row, view);
  at = std::min(at, static_cast<int>(parent->children.size()));
  beginInsertRows(indexOfItem(parent, 0), at, at);
  parent->children.insert(parent->children.begin() + at, item.get());
  items_.emplace(row.key, std::move(item));
  endInsertRows();
}

bool TreeModel::moveItem(Item* item, Item* parent, int at) {
  const auto wanted = static_cast<std::size_t>(at);
  if (item->parent == parent && wanted < parent->children.size() && parent->children[wanted] == item) return true;
  const int from = placeOf(item);
  for (const Item* above = parent; above != nullptr; above = above->parent) {
    if (above == item) return false;  // would hang below itself
  }
  const int limit = static_cast<int>(parent->children.size()) - (item->parent == parent ? 1 : 0);
  at = std::min(at, limit);
  if (item->parent == parent && from == at) return true;
  // Qt counts the destination before the row is taken out.
  const int destination = item->parent == parent && at > from ? at + 1 : at;
  if (!beginMoveRows(indexOfItem(item->parent, 0), from, from, indexOfItem(parent, 0), destination)) return false;
  item->parent->children.erase(item->parent->children.begin() + from);
  parent->children.insert(parent->children.begin() + at, item);
  item->parent = parent;
  endMoveRows();
  return true;
}

void TreeModel::removeGone(const TreeRows& rows) {
  std::vector<Item*> gone;
  for (const auto& [key, item] : items_) {
    if (!rows.by_key.contains(key) && rows.by_key.contains(item->parent->key)) gone.push_back(item.get());
  }
  for (Item* item : gone) removeItem(item);
}

void TreeModel::removeItem(Item* item) {
  const int at = placeOf(item);
  beginRemoveRows(indexOfItem(item->parent, 0), at, at);
  item->parent->children.erase(item->parent->children.begin() + at);
  forget(item);
  endRemoveRows();
}

void TreeModel::forget(Item* item) {
  std::vector<Item*> pending{item};
  while (!pending.empty()) {
    Item* one = pending.back();
    pending.pop_back();
    pending.insert(pending.end(), one->children.begin(), one->children.end());
    items_.erase(one->key);
  }
}

void TreeModel::rebuild(const TreeRows& rows, const SnapshotView& view) {
  beginResetModel();
  top_.children.clear();
  items_.clear();
  for (const TreeRow& row : rows.rows) {
    auto item = std::make_unique<Item>();
    item->key = row.key;
    item->parent = row.parent < 0 ? &top_ : items_.at(rows.rows[static_cast<std::size_t>(row.parent)].key).get();
    fill(*item, rows, row, view);
    item->parent->children.push_back(item.get());
    items_.emplace(row.key, std::move(item));
  }
  endResetModel();
}

QVariant TreeModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal) return {};
  const bool figure = section != kLabel && section != kTier;
  if (role == Qt::TextAlignmentRole) return QVariant((figure ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
  if (role != Qt::DisplayRole) return {};
  switch (section) {
    case kLabel:
      return tr("Outline");
    case kTokens:
      return tr("Tokens");
    case kBlocks:
      return tr("Blocks");
    case kBytes:
      return tr("Bytes");
    case kTier:
      return tr("Tier");
    case kHits:
      return tr("Hits");
    case kLastHit:
      return tr("Last hit");
    case kCompute:
      return tr("To compute");
    default:
      return {};
  }
}

QString TreeModel::text(const Item& item, int column) const {
  const bool run = item.row.kind == TreeRow::Kind::kRun;
  const TreeSums& sums = run ? item.row.own : item.row.all;
  switch (column) {
    case kLabel:
      return item.label;
    case kTokens:
      return countText(sums.tokens);
    case kBlocks:
      return countText(sums.blocks);
    case kBytes:
      return bytesText(sums.bytes);
    case kTier: {
      const int tiers = (sums.device_blocks > 0) + (sums.host_blocks > 0) + (sums.disk_blocks > 0);
      if (tiers == 0) return noData();
      if (tiers > 1) return tr("mixed");
      return tierLabel(sums.device_blocks > 0 ? Tier::kDevice : sums.host_blocks > 0 ? Tier::kHost : Tier::kDisk);
    }
    case kHits:
      return run ? countText(item.node.hits) : QString();
    case kLastHit:
      return run ? agoText(item.node.last_hit, view_->at) : QString();
    case kCompute:
      return sums.compute_ms > 0 ? durationText(sums.compute_ms) : noData();
    default:
      return {};
  }
}

QVariant TreeModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const Item& item = *itemOf(index);
  const TreeSums& sums = item.row.kind == TreeRow::Kind::kRun ? item.row.own : item.row.all;
  switch (role) {
    case Qt::DisplayRole:
      return text(item, index.column());
    case Qt::TextAlignmentRole: {
      const bool figure = index.column() != kLabel && index.column() != kTier;
      return QVariant((figure ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    }
    case kIdRole:
      return QVariant::fromValue(static_cast<qulonglong>(item.key));
    case kIconRole:
      return index.column() == kLabel && item.row.kind == TreeRow::Kind::kRun && item.node.pinned
                 ? QVariant(QStringLiteral("pin"))
                 : QVariant();
    case kMarkRole:
      return index.column() == kLabel && item.row.kind == TreeRow::Kind::kTenant
                 ? QVariant(tenantMark(*view_, item.row.tenant))
                 : QVariant();
    case kTierRole: {
      if (index.column() != kTier || sums.blocks == 0) return {};
      if (sums.device_blocks == sums.blocks) return static_cast<int>(Tier::kDevice);
      if (sums.host_blocks == sums.blocks) return static_cast<int>(Tier::kHost);
      return sums.disk_blocks == sums.blocks ? QVariant(static_cast<int>(Tier::kDisk)) : QVariant();
    }
    default:
      return {};
  }
}

}  // namespace larder::gui
