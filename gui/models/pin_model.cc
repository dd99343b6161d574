// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/models/pin_model.h"

#include "gui/bridge/tree_rows.h"
#include "gui/models/words.h"
#include "gui/theme/numbers.h"

namespace larder::gui {
namespace {

using Row = PinRow;

}  // namespace

PinModel::PinModel(QObject* parent)
    : RowTable(
          {
              {tr("Pinned"), Side::kLeft, [](const Row& row) { return row.label; }},
              {tr("Reason"), Side::kLeft, [](const Row& row) { return row.info.reason; }},
              {tr("Tenant"), Side::kLeft, [](const Row& row) { return row.tenant; }, nullptr, markLook<Row>},
              {tr("Blocks"), Side::kRight, [](const Row& row) { return countText(row.info.blocks); },
               [](const Row& row) { return orderOf(row.info.blocks); }},
              {tr("Bytes"), Side::kRight, [](const Row& row) { return bytesText(row.info.bytes); },
               [](const Row& row) { return orderOf(row.info.bytes); }},
              {tr("Since"), Side::kLeft, [](const Row& row) { return dateTimeText(row.info.created); },
               [](const Row& row) { return QVariant::fromValue<qlonglong>(row.info.created); }},
              {tr("Until"), Side::kLeft,
               [](const Row& row) { return row.info.expires == 0 ? tr("unpinned") : dateTimeText(row.info.expires); },
               [](const Row& row) { return QVariant::fromValue<qlonglong>(row.info.expires); }},
          },
          parent) {}

void PinModel::setView(const SnapshotView& view) {
  QVector<PinRow> next;
  for (const PinInfo& pin : view.pins) {
    const int at = view.tree ? view.tree->indexOfNode(pin.node) : -1;
    const QString label = at < 0 ? noData() : view.tree->labelOf(view.tree->rows[static_cast<std::size_t>(at)], view);
    next.push_back(PinRow{pin, tenantName(view, pin.tenant), label, tenantMark(view, pin.tenant)});
  }
  setRows(std::move(next));
}

}  // namespace larder::gui
