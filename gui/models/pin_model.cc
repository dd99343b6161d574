// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/models/pin_model.h"

#include "gui/bridge/tree_rows.h"
#include "gui/models/request_model.h"
#include "gui/theme/numbers.h"

namespace larder::gui {
namespace {

bool isFigure(int column) {
  switch (column) {
    case PinModel::kBlocks:
    case PinModel::kBytes:
      return true;
    default:
      return false;
  }
}

QVariant number(std::uint64_t value) { return QVariant::fromValue(static_cast<qulonglong>(value)); }

}  // namespace

void PinModel::setView(const SnapshotView& view) {
  QVector<PinRow> next;
  for (const PinInfo& pin : view.pins) {
    const TenantInfo* tenant = findTenant(view, pin.tenant);
    const int at = view.tree ? view.tree->indexOfNode(pin.node) : -1;
    const QString label = at < 0 ? noData() : view.tree->labelOf(view.tree->rows[static_cast<std::size_t>(at)], view);
    next.push_back(PinRow{pin, tenant != nullptr ? tenant->name : noData(), label, tenantMark(view, pin.tenant)});
  }
  setRows(std::move(next));
}

int PinModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : kColumns; }

QVariant PinModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal) return {};
  if (role == Qt::TextAlignmentRole) {
    return QVariant((isFigure(section) ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
  }
  if (role != Qt::DisplayRole) return {};
  switch (section) {
    case kLabel:
      return tr("Pinned");
    case kReason:
      return tr("Reason");
    case kTenant:
      return tr("Tenant");
    case kBlocks:
      return tr("Blocks");
    case kBytes:
      return tr("Bytes");
    case kCreated:
      return tr("Since");
    case kExpires:
      return tr("Until");
    default:
      return {};
  }
}

QString PinModel::text(const PinRow& row, int column) const {
  switch (column) {
    case kLabel:
      return row.label;
    case kReason:
      return row.info.reason;
    case kTenant:
      return row.tenant;
    case kBlocks:
      return countText(row.info.blocks);
    case kBytes:
      return bytesText(row.info.bytes);
    case kCreated:
      return dateTimeText(row.info.created);
    case kExpires:
      return row.info.expires == 0 ? tr("unpinned") : dateTimeText(row.info.expires);
    default:
      return {};
  }
}

QVariant PinModel::sortValue(const PinRow& row, int column) const {
  switch (column) {
    case kBlocks:
      return row.info.blocks;
    case kBytes:
      return number(row.info.bytes);
    case kCreated:
      return QVariant::fromValue(static_cast<qlonglong>(row.info.created));
    case kExpires:
      return QVariant::fromValue(static_cast<qlonglong>(row.info.expires));
    default:
      return text(row, column);
  }
}

QVariant PinModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= rowCount()) return {};
  const PinRow& at = row(index.row());
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
    default:
      return {};
  }
}

}  // namespace larder::gui
