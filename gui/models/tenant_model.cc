// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/models/tenant_model.h"

#include "gui/theme/numbers.h"

namespace larder::gui {
namespace {

using Row = TenantRow;

double reusedShare(const TenantInfo& tenant) {
  if (tenant.prompt_tokens == 0) return -1;
  return static_cast<double>(tenant.cached_tokens) / static_cast<double>(tenant.prompt_tokens);
}

}  // namespace

TenantModel::TenantModel(QObject* parent)
    : RowTable(
          {
              {tr("Tenant"), Side::kLeft, [](const Row& row) { return row.info.name; }, nullptr, markLook<Row>},
              {tr("Bytes"), Side::kRight, [](const Row& row) { return bytesText(row.info.bytes); },
               [](const Row& row) { return orderOf(row.info.bytes); }},
              {tr("Blocks"), Side::kRight, [](const Row& row) { return countText(row.info.blocks); },
               [](const Row& row) { return orderOf(row.info.blocks); }},
              {tr("Pinned"), Side::kRight,
               [](const Row& row) { return row.info.pinned_bytes == 0 ? noData() : bytesText(row.info.pinned_bytes); },
               [](const Row& row) { return orderOf(row.info.pinned_bytes); }},
              {tr("Limit"), Side::kRight,
               [](const Row& row) { return row.info.quota_bytes == 0 ? tr("none") : bytesText(row.info.quota_bytes); },
               [](const Row& row) { return orderOf(row.info.quota_bytes); }},
              {tr("Requests"), Side::kRight, [](const Row& row) { return countText(row.info.requests); },
               [](const Row& row) { return orderOf(row.info.requests); }},
              {tr("Reused"), Side::kRight,
               [](const Row& row) { return percentText(reusedShare(row.info), row.info.prompt_tokens == 0 ? 0 : 1); },
               [](const Row& row) { return QVariant(reusedShare(row.info)); }},
              {tr("Running"), Side::kRight, [](const Row& row) { return countText(row.info.running); },
               [](const Row& row) { return orderOf(row.info.running); }},
              {tr("Keys"), Side::kRight, [](const Row& row) { return countText(static_cast<std::uint64_t>(row.keys)); },
               [](const Row& row) { return QVariant(row.keys); }},
          },
          parent) {}

void TenantModel::setView(const SnapshotView& view) {
  QVector<TenantRow> next;
  for (const TenantInfo& tenant : view.tenants) {
    TenantRow row{tenant, tenantMark(view, tenant.id), 0};
    for (const KeyInfo& key : view.keys) row.keys += key.tenant == tenant.id ? 1 : 0;
    next.push_back(row);
  }
  setRows(std::move(next));
}

}  // namespace larder::gui
