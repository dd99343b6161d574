// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/models/pack_model.h"

#include "gui/theme/numbers.h"

namespace larder::gui {
namespace {

using Row = PackRow;

QVariant stateLook(const PackRow& row, int role) {
  if (role != kIconRole) return {};
  return row.info.pinned ? QStringLiteral("pin") : row.info.warm ? QStringLiteral("warm") : QString();
}

}  // namespace

PackModel::PackModel(QObject* parent)
    : RowTable(
          {
              {tr("Pack"), Side::kLeft, [](const Row& row) { return row.info.name; }},
              {tr("Language"), Side::kLeft, [](const Row& row) { return row.info.language; }},
              {tr("Version"), Side::kRight, [](const Row& row) { return countText(row.info.version); },
               [](const Row& row) { return orderOf(row.info.version); }},
              {tr("Tokens"), Side::kRight,
               [](const Row& row) { return row.info.tokens == 0 ? noData() : countText(row.info.tokens); },
               [](const Row& row) { return orderOf(row.info.tokens); }},
              {tr("State"), Side::kLeft,
               [](const Row& row) {
                 return row.info.pinned ? tr("pinned") : row.info.warm ? tr("warm") : tr("not read yet");
               },
               nullptr, stateLook},
          },
          parent) {}

void PackModel::setView(const SnapshotView& view) {
  QVector<PackRow> next;
  for (const PackInfo& pack : view.packs) next.push_back(PackRow{pack});
  setRows(std::move(next));
}

}  // namespace larder::gui
