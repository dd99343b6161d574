// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/models/pack_model.h"

#include "gui/models/request_model.h"
#include "gui/theme/numbers.h"

namespace larder::gui {
namespace {

bool isFigure(int column) {
  switch (column) {
    case PackModel::kVersion:
    case PackModel::kTokens:
      return true;
    default:
      return false;
  }
}

}  // namespace

void PackModel::setView(const SnapshotView& view) {
  QVector<PackRow> next;
  for (const PackInfo& pack : view.packs) next.push_back(PackRow{pack});
  setRows(std::move(next));
}

int PackModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : kColumns; }

QVariant PackModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal) return {};
  if (role == Qt::TextAlignmentRole) {
    return QVariant((isFigure(section) ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
  }
  if (role != Qt::DisplayRole) return {};
  switch (section) {
    case kName:
      return tr("Pack");
    case kLanguage:
      return tr("Language");
    case kVersion:
      return tr("Version");
    case kTokens:
      return tr("Tokens");
    case kState:
      return tr("State");
    default:
      return {};
  }
}

QString PackModel::text(const PackRow& row, int column) const {
  switch (column) {
    case kName:
      return row.info.name;
    case kLanguage:
      return row.info.language;
    case kVersion:
      return countText(row.info.version);
    case kTokens:
      return row.info.tokens == 0 ? noData() : countText(row.info.tokens);
    case kState:
      return row.info.pinned ? tr("pinned") : row.info.warm ? tr("warm") : tr("not read yet");
    default:
      return {};
  }
}

QVariant PackModel::sortValue(const PackRow& row, int column) const {
  switch (column) {
    case kVersion:
      return row.info.version;
    case kTokens:
      return row.info.tokens;
    default:
      return text(row, column);
  }
}

QVariant PackModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= rowCount()) return {};
  const PackRow& at = row(index.row());
  const int column = index.column();
  switch (role) {
    case Qt::DisplayRole:
      return text(at, column);
    case Qt::TextAlignmentRole:
      return QVariant((isFigure(column) ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    case kIdRole:
      return at.info.id;
    case kSortRole:
      return sortValue(at, column);
    case kIconRole:
      if (column != kState) return {};
      return at.info.pinned ? QStringLiteral("pin") : at.info.warm ? QStringLiteral("warm") : QString();
    default:
      return {};
  }
}

}  // namespace larder::gui
