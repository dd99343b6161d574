// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/models/entry_model.h"

#include "gui/models/request_model.h"
#include "gui/theme/numbers.h"

namespace larder::gui {
namespace {

bool isFigure(int column) {
  switch (column) {
    case EntryModel::kTokens:
    case EntryModel::kBytes:
    case EntryModel::kHits:
    case EntryModel::kSaved:
      return true;
    default:
      return false;
  }
}

QVariant number(std::uint64_t value) { return QVariant::fromValue(static_cast<qulonglong>(value)); }

}  // namespace

void EntryModel::setView(const SnapshotView& view) {
  QVector<EntryRow> next;
  for (const EntryInfo& entry : view.entries) {
    const TenantInfo* tenant = findTenant(view, entry.tenant);
    next.push_back(EntryRow{entry, tenant != nullptr ? tenant->name : noData(), tenantMark(view, entry.tenant)});
  }
  setRows(std::move(next));
}

int EntryModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : kColumns; }

QVariant EntryModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal) return {};
  if (role == Qt::TextAlignmentRole) {
    return QVariant((isFigure(section) ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
  }
  if (role != Qt::DisplayRole) return {};
  switch (section) {
    case kName:
      return tr("Entry");
    case kTenant:
      return tr("Tenant");
    case kTokens:
      return tr("Tokens");
    case kBytes:
      return tr("Bytes");
    case kPinned:
      return tr("Pinned");
    case kHits:
      return tr("Hits");
    case kSaved:
      return tr("Saved");
    default:
      return {};
  }
}

QString EntryModel::text(const EntryRow& row, int column) const {
  switch (column) {
    case kName:
      return row.info.name;
    case kTenant:
      return row.tenant;
    case kTokens:
      return countText(row.info.tokens);
    case kBytes:
      return bytesText(row.info.bytes);
    case kPinned:
      return row.info.pinned ? tr("pinned") : noData();
    case kHits:
      return countText(row.info.hits);
    case kSaved:
      return row.info.saved_ms > 0 ? durationText(row.info.saved_ms) : noData();
    default:
      return {};
  }
}

QVariant EntryModel::sortValue(const EntryRow& row, int column) const {
  switch (column) {
    case kTokens:
      return row.info.tokens;
    case kBytes:
      return number(row.info.bytes);
    case kPinned:
      return row.info.pinned;
    case kHits:
      return number(row.info.hits);
    case kSaved:
      return row.info.saved_ms;
    default:
      return text(row, column);
  }
}

QVariant EntryModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= rowCount()) return {};
  const EntryRow& at = row(index.row());
  const int column = index.column();
  switch (role) {
    case Qt::DisplayRole:
      return text(at, column);
    case Qt::TextAlignmentRole:
      return QVariant((isFigure(column) ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    case kIdRole:
      return number(at.info.id.value);
    case kSortRole:
      return sortValue(at, column);
    case kMarkRole:
      return column == kTenant ? QVariant(at.mark) : QVariant();
    case kIconRole:
      return column == kPinned && at.info.pinned ? QVariant(QStringLiteral("pin")) : QVariant();
    default:
      return {};
  }
}

}  // namespace larder::gui
