// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/models/entry_model.h"

#include "gui/models/words.h"
#include "gui/theme/numbers.h"

namespace larder::gui {
namespace {

using Row = EntryRow;

}  // namespace

EntryModel::EntryModel(QObject* parent)
    : RowTable(
          {
              {tr("Entry"), Side::kLeft, [](const Row& row) { return row.info.name; }},
              {tr("Tenant"), Side::kLeft, [](const Row& row) { return row.tenant; }, nullptr, markLook<Row>},
              {tr("Tokens"), Side::kRight, [](const Row& row) { return countText(row.info.tokens); },
               [](const Row& row) { return orderOf(row.info.tokens); }},
              {tr("Bytes"), Side::kRight, [](const Row& row) { return bytesText(row.info.bytes); },
               [](const Row& row) { return orderOf(row.info.bytes); }},
              {tr("Pinned"), Side::kLeft, [](const Row& row) { return row.info.pinned ? tr("pinned") : noData(); },
               [](const Row& row) { return QVariant(row.info.pinned); },
               [](const Row& row, int role) {
                 return role == kIconRole && row.info.pinned ? QVariant(QStringLiteral("pin")) : QVariant();
               }},
              {tr("Hits"), Side::kRight, [](const Row& row) { return countText(row.info.hits); },
               [](const Row& row) { return orderOf(row.info.hits); }},
              {tr("Saved"), Side::kRight,
               [](const Row& row) { return row.info.saved_ms > 0 ? durationText(row.info.saved_ms) : noData(); },
               [](const Row& row) { return QVariant(row.info.saved_ms); }},
          },
          parent) {}

void EntryModel::setView(const SnapshotView& view) {
  QVector<EntryRow> next;
  for (const EntryInfo& entry : view.entries) {
    next.push_back(EntryRow{entry, tenantName(view, entry.tenant), tenantMark(view, entry.tenant)});
  }
  setRows(std::move(next));
}

}  // namespace larder::gui
