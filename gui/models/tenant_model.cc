// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/models/tenant_model.h"

#include "gui/models/request_model.h"
#include "gui/theme/numbers.h"

namespace larder::gui {
namespace {

bool isFigure(int column) {
  switch (column) {
    case TenantModel::kBytes:
    case TenantModel::kBlocks:
    case TenantModel::kPinned:
    case TenantModel::kQuota:
    case TenantModel::kRequests:
    case TenantModel::kReused:
    case TenantModel::kRunning:
    case TenantModel::kKeys:
      return true;
    default:
      return false;
  }
}

QVariant number(std::uint64_t value) { return QVariant::fromValue(static_cast<qulonglong>(value)); }

}  // namespace

void TenantModel::setView(const SnapshotView& view) {
  QVector<TenantRow> next;
  for (const TenantInfo& tenant : view.tenants) {
    TenantRow row{tenant, tenantMark(view, tenant.id), 0};
    for (const KeyInfo& key : view.keys) row.keys += key.tenant == tenant.id ? 1 : 0;
    next.push_back(row);
  }
  setRows(std::move(next));
}

int TenantModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : kColumns; }

QVariant TenantModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal) return {};
  if (role == Qt::TextAlignmentRole) {
    return QVariant((isFigure(section) ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
  }
  if (role != Qt::DisplayRole) return {};
  switch (section) {
    case kName:
      return tr("Tenant");
    case kBytes:
      return tr("Bytes");
    case kBlocks:
      return tr("Blocks");
    case kPinned:
      return tr("Pinned");
    case kQuota:
      return tr("Limit");
    case kRequests:
      return tr("Requests");
    case kReused:
      return tr("Reused");
    case kRunning:
      return tr("Running");
    case kKeys:
      return tr("Keys");
    default:
      return {};
  }
}

QString TenantModel::text(const TenantRow& row, int column) const {
  switch (column) {
    case kName:
      return row.info.name;
    case kBytes:
      return bytesText(row.info.bytes);
    case kBlocks:
      return countText(row.info.blocks);
    case kPinned:
      return row.info.pinned_bytes == 0 ? noData() : bytesText(row.info.pinned_bytes);
    case kQuota:
      return row.info.quota_bytes == 0 ? tr("none") : bytesText(row.info.quota_bytes);
    case kRequests:
      return countText(row.info.requests);
    case kReused:
      return percentText(static_cast<double>(row.info.cached_tokens), static_cast<double>(row.info.prompt_tokens));
    case kRunning:
      return countText(row.info.running);
    case kKeys:
      return countText(static_cast<std::uint64_t>(row.keys));
    default:
      return {};
  }
}

QVariant TenantModel::sortValue(const TenantRow& row, int column) const {
  switch (column) {
    case kBytes:
      return number(row.info.bytes);
    case kBlocks:
      return number(row.info.blocks);
    case kPinned:
      return number(row.info.pinned_bytes);
    case kQuota:
      return number(row.info.quota_bytes);
    case kRequests:
      return number(row.info.requests);
    case kReused:
      return row.info.prompt_tokens == 0
                 ? -1.0
                 : static_cast<double>(row.info.cached_tokens) / static_cast<double>(row.info.prompt_tokens);
    case kRunning:
      return row.info.running;
    case kKeys:
      return row.keys;
    default:
      return text(row, column);
  }
}

QVariant TenantModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= rowCount()) return {};
  const TenantRow& at = row(index.row());
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
      return column == kName ? QVariant(at.mark) : QVariant();
    default:
      return {};
  }
}

}  // namespace larder::gui
