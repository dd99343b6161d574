// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/pages/overview/occupancy_card.h"

#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QVBoxLayout>
#include <algorithm>

#include "gui/models/words.h"
#include "gui/theme/label.h"
#include "gui/theme/numbers.h"
#include "gui/widgets/tenant_mark.h"
#include "gui/widgets/tier_bar.h"

namespace larder::gui {
namespace {

constexpr int kTenantsShown = 5;

}  // namespace

OccupancyCard::OccupancyCard(const Theme& theme, QWidget* parent)
    : Card(theme, tr("Occupancy"), parent),
      theme_(theme),
      tier_name_(new QLabel),
      bar_(new TierBar(theme, Tier::kHost)),
      amount_(new QLabel),
      share_(new QLabel),
      table_(new QGridLayout) {
  auto* line = new QHBoxLayout;
  line->setSpacing(12);
  line->addWidget(tier_name_);
  line->addWidget(bar_, 1);
  line->addWidget(amount_);
  line->addWidget(share_);
  share_->setFont(theme.font(TextSize::kBody, true));
  body()->addLayout(line);
  table_->setHorizontalSpacing(16);
  table_->setVerticalSpacing(4);
  table_->setColumnStretch(1, 1);
  body()->addLayout(table_);
  body()->addStretch(1);
}

void OccupancyCard::setStale(bool stale) { bar_->setStale(stale); }

void OccupancyCard::showView(const SnapshotView& view) {
  const PoolInfo& pool = view.pool;
  const Tier tier = poolTier(view);
  const std::uint64_t capacity = pool.bytes_total;
  const std::uint64_t used = pool.bytes_taken;
  const std::uint64_t pinned = pool.bytes_pinned;
  setNote(tr("%1 in %Ln blocks", nullptr, static_cast<int>(pool.blocks_total - pool.blocks_free)).arg(bytesText(used)));
  setAside(pinned > 0 ? tr("bracket: %1 pinned").arg(bytesText(pinned)) : QString());
  tier_name_->setText(tierLabel(tier));
  bar_->setTier(tier);
  amount_->setText(QStringLiteral("%1 / %2").arg(bytesText(used), bytesText(capacity)));
  share_->setText(percentText(static_cast<double>(used), static_cast<double>(capacity)));
  bar_->setAccessibleName(tr("%1: %2 of %3 used").arg(tierLabel(tier), bytesText(used), bytesText(capacity)));

  QVector<TenantInfo> tenants = view.tenants;
  std::stable_sort(tenants.begin(), tenants.end(), [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  QVector<BarCut> cuts;
  QVector<QStringList> rows;
  QVector<int> marks;
  TenantInfo all, rest;
  const auto text = [](const QString& name, const TenantInfo& one) {
    return QStringList{name, countText(one.blocks), one.pinned_bytes == 0 ? noData() : bytesText(one.pinned_bytes),
                       one.bytes == 0 ? noData() : bytesText(one.bytes)};
  };
  for (int i = 0; i < tenants.size(); ++i) {
    const TenantInfo& one = tenants[i];
    const int mark = tenantMark(view, one.id);
    cuts.push_back({static_cast<double>(one.bytes), mark});
    TenantInfo& sum = i < kTenantsShown ? all : rest;
    sum.blocks += one.blocks, sum.bytes += one.bytes, sum.pinned_bytes += one.pinned_bytes;
    if (i < kTenantsShown) {
      rows.push_back(text(one.name, one));
      marks.push_back(mark);
    }
  }
  if (tenants.size() > kTenantsShown) {
    rows.push_back(text(tr("%n more", nullptr, static_cast<int>(tenants.size()) - kTenantsShown), rest));
    marks.push_back(-1);
    all.blocks += rest.blocks, all.bytes += rest.bytes, all.pinned_bytes += rest.pinned_bytes;
  }
  rows.push_back(text(tr("All"), all));
  marks.push_back(-1);
  bar_->setAmounts(static_cast<double>(capacity), cuts, static_cast<double>(pinned));
  setRows(rows, marks);
}

void OccupancyCard::setRows(const QVector<QStringList>& rows, const QVector<int>& marks) {
  if (rows == shown_) return;
  shown_ = rows;
  for (QWidget* cell : std::as_const(cells_)) delete cell;
  cells_.clear();
  const auto put = [&](QWidget* cell, int row, int column) {
    table_->addWidget(cell, row, column);
    cells_.push_back(cell);
  };
  const QStringList heads{tr("Tenant"), tr("Blocks"), tr("Pinned"), tr("Total")};
  for (int column = 0; column < heads.size(); ++column) {
    auto* head = new QLabel(heads[column]);
    head->setEnabled(false);
    head->setFont(theme_.font(TextSize::kSmall));
    head->setAlignment(column == 0 ? Qt::AlignLeft : Qt::AlignRight);
    put(head, 0, column == 0 ? 1 : column + 1);
  }
  for (int row = 0; row < rows.size(); ++row) {
    const bool sum = row + 1 == rows.size();
    if (marks[row] >= 0) put(new TenantMark(theme_, marks[row]), row + 1, 0);
    for (int column = 0; column < rows[row].size(); ++column) {
      auto* cell = new QLabel(rows[row][column]);
      cell->setFont(theme_.font(TextSize::kBody, sum || column + 1 == rows[row].size()));
      cell->setAlignment((column == 0 ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
      put(cell, row + 1, column + 1);
    }
  }
}

}  // namespace larder::gui
