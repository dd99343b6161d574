// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/models/key_model.h"

#include "gui/models/request_model.h"
#include "gui/theme/numbers.h"

namespace larder::gui {
namespace {

QVariant number(std::uint64_t value) { return QVariant::fromValue(static_cast<qulonglong>(value)); }

}  // namespace

void KeyModel::setView(const SnapshotView& view) {
  QVector<KeyRow> next;
  for (const KeyInfo& key : view.keys) {
    const TenantInfo* tenant = findTenant(view, key.tenant);
    next.push_back(KeyRow{key, tenant != nullptr ? tenant->name : noData(), tenantMark(view, key.tenant)});
  }
  setRows(std::move(next));
}

int KeyModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : kColumns; }

QVariant KeyModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal) return {};
  if (role == Qt::TextAlignmentRole) {
    return QVariant(Qt::AlignLeft | Qt::AlignVCenter);
  }
  if (role != Qt::DisplayRole) return {};
  switch (section) {
    case kPrefix:
      return tr("Key");
    case kLabel:
      return tr("Label");
    case kTenant:
      return tr("Tenant");
    case kRight:
      return tr("Right");
    case kCreated:
      return tr("Made");
    case kUsed:
      return tr("Last used");
    default:
      return {};
  }
}

QString KeyModel::text(const KeyRow& row, int column) const {
  switch (column) {
    case kPrefix:
      return row.info.prefix + QStringLiteral("\u2026");
    case kLabel:
      return row.info.label;
    case kTenant:
      return row.tenant;
    case kRight:
      return row.info.admin ? tr("admin") : tr("use");
    case kCreated:
      return dateTimeText(row.info.created);
    case kUsed:
      return row.info.last_used == 0 ? tr("never") : dateTimeText(row.info.last_used);
    default:
      return {};
  }
}

QVariant KeyModel::sortValue(const KeyRow& row, int column) const {
  switch (column) {
    case kCreated:
      return QVariant::fromValue(static_cast<qlonglong>(row.info.created));
    case kUsed:
      return QVariant::fromValue(static_cast<qlonglong>(row.info.last_used));
    default:
      return text(row, column);
  }
}

QVariant KeyModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= rowCount()) return {};
  const KeyRow& at = row(index.row());
  const int column = index.column();
  switch (role) {
    case Qt::DisplayRole:
      return text(at, column);
    case Qt::TextAlignmentRole:
      return QVariant(Qt::AlignLeft | Qt::AlignVCenter);
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
