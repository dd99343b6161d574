// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/models/key_model.h"

#include "gui/models/words.h"
#include "gui/theme/numbers.h"

namespace larder::gui {
namespace {

using Row = KeyRow;

}  // namespace

KeyModel::KeyModel(QObject* parent)
    : RowTable(
          {
              {tr("Key"), Side::kLeft, [](const Row& row) { return row.info.prefix + QStringLiteral("\u2026"); }},
              {tr("Label"), Side::kLeft, [](const Row& row) { return row.info.label; }},
              {tr("Tenant"), Side::kLeft, [](const Row& row) { return row.tenant; }, nullptr, markLook<Row>},
              {tr("Right"), Side::kLeft, [](const Row& row) { return row.info.admin ? tr("admin") : tr("use"); }},
              {tr("Made"), Side::kLeft, [](const Row& row) { return dateTimeText(row.info.created); },
               [](const Row& row) { return QVariant::fromValue<qlonglong>(row.info.created); }},
              {tr("Last used"), Side::kLeft,
               [](const Row& row) { return row.info.last_used == 0 ? tr("never") : dateTimeText(row.info.last_used); },
               [](const Row& row) { return QVariant::fromValue<qlonglong>(row.info.last_used); }},
          },
          parent) {}

void KeyModel::setView(const SnapshotView& view) {
  QVector<KeyRow> next;
  for (const KeyInfo& key : view.keys) {
    next.push_back(KeyRow{key, tenantName(view, key.tenant), tenantMark(view, key.tenant)});
  }
  setRows(std::move(next));
}

}  // namespace larder::gui
