// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/pages/models/memory_ledger.h"

#include <QLabel>
#include <QPainter>
#include <QVBoxLayout>
#include <algorithm>

#include "gui/models/words.h"
#include "gui/theme/numbers.h"
#include "gui/widgets/figure_grid.h"
#include "gui/widgets/tier_bar.h"

namespace larder::gui {
namespace {

constexpr int kBarHeight = 20;

bool holds(const ModelInfo& model) {
  return model.state == ModelInfo::State::kReady || model.state == ModelInfo::State::kUnloading;
}

const ModelInfo* holder(const SnapshotView& view) {
  const auto found = std::find_if(view.models.begin(), view.models.end(), holds);
  return found == view.models.end() ? nullptr : &*found;
}

void paintPart(QPainter& painter, const Theme& theme, Tier tier, LedgerPart::Kind kind, const QRectF& rect) {
  switch (kind) {
    case LedgerPart::Kind::kWeights:
      painter.fillRect(rect, theme.color(Tone::kNeutralFill));
      return;
    case LedgerPart::Kind::kFree:
      painter.fillRect(rect, theme.color(Tone::kTrackFree));
      return;
    case LedgerPart::Kind::kInUse:
    case LedgerPart::Kind::kPinned:
    case LedgerPart::Kind::kKept:
      drawTierFill(painter, theme, tier, rect);
  }
  if (kind == LedgerPart::Kind::kPinned) {
    painter.fillRect(QRectF(rect.left(), rect.top(), rect.width(), 3), theme.color(Tone::kText));
  }
}

}  // namespace

QVector<LedgerPart> ledgerParts(const SnapshotView& view) {
  using Kind = LedgerPart::Kind;
  if (holder(view) == nullptr) return {};
  std::uint64_t weights = 0, in_use = 0, pinned = 0, kept = 0, unused = 0;
  for (const ModelInfo& model : view.models) {
    if (!holds(model)) continue;
    const PoolInfo& pool = model.pool;
    const std::uint64_t free = std::min(pool.blocks_free, pool.blocks_total);
    const std::uint64_t cached = std::min<std::uint64_t>(pool.blocks_cached, pool.blocks_total - free);
    const std::uint64_t held = std::min<std::uint64_t>(pool.blocks_pinned, cached);
    weights += model.weight_bytes;
    in_use += (pool.blocks_total - free - cached) * pool.block_bytes;
    pinned += held * pool.block_bytes;
    kept += (cached - held) * pool.block_bytes;
    unused += free * pool.block_bytes;
  }
  QVector<LedgerPart> parts{{Kind::kWeights, weights}};
  if (in_use > 0) parts.push_back({Kind::kInUse, in_use});
  if (pinned > 0) parts.push_back({Kind::kPinned, pinned});
  if (kept > 0) parts.push_back({Kind::kKept, kept});
  parts.push_back({Kind::kFree, unused});
  return parts;
}

std::uint64_t ledgerTotal(const QVector<LedgerPart>& parts) {
  std::uint64_t sum = 0;
  for (const LedgerPart& part : parts) sum += part.bytes;
  return sum;
}

LedgerBar::LedgerBar(const Theme& theme, QWidget* parent) : QWidget(parent), theme_(theme) {
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  connect(&theme, &Theme::changed, this, QOverload<>::of(&QWidget::update));
}

void LedgerBar::setParts(QVector<LedgerPart> parts, Tier tier) {
  if (parts == parts_ && tier == tier_) return;
  parts_ = std::move(parts);
  tier_ = tier;
  update();
}

void LedgerBar::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  const QRectF frame(0.5, 2.5, width() - 1, kBarHeight);
  painter.fillRect(frame, theme_.color(Tone::kTrackFree));
  const double total = static_cast<double>(ledgerTotal(parts_));
  double x = frame.left();
  for (const LedgerPart& part : parts_) {
    if (total <= 0) break;
    const double wide = frame.width() * static_cast<double>(part.bytes) / total;
    paintPart(painter, theme_, tier_, part.kind, QRectF(x, frame.top(), wide, frame.height()));
    x += wide;
    if (x < frame.right() - 2)
      painter.fillRect(QRectF(x - 0.75, frame.top(), 1.5, frame.height()), theme_.color(Tone::kSurface));
  }
  painter.setPen(theme_.color(Tone::kControl));
  painter.drawRect(frame);
}

MemoryLedger::MemoryLedger(const Theme& theme, QWidget* parent)
    : Card(theme, tr("Memory ledger"), parent),
      bar_(new LedgerBar(theme)),
      figures_(new FigureGrid(theme, 6)),
      note_(new QLabel) {
  setObjectName(QStringLiteral("memoryLedger"));
  setNote(tr("the parts add up to the total"));
  body()->addWidget(bar_);
  body()->addWidget(figures_);
  note_->setWordWrap(true);
  note_->setEnabled(false);
  note_->setFont(theme.font(TextSize::kSmall));
  body()->addWidget(note_);
}

void MemoryLedger::showView(const SnapshotView& view) {
  using Kind = LedgerPart::Kind;
  const QVector<LedgerPart> parts = ledgerParts(view);
  const ModelInfo* model = holder(view);
  bar_->setParts(parts, poolTier(view));
  setAside(tr("total %1").arg(parts.isEmpty() ? noData() : bytesText(ledgerTotal(parts))));
  const QString pool = tierLabel(poolTier(view));
  QVector<CaptionedFigure> figures;
  QStringList spoken;
  for (const LedgerPart& part : parts) {
    QString caption;
    switch (part.kind) {
      case Kind::kWeights:
        caption = tr("Weights");
        break;
      case Kind::kInUse:
        caption = tr("Pool (%1), in use").arg(pool);
        break;
      case Kind::kPinned:
        caption = tr("Pool (%1), pinned").arg(pool);
        break;
      case Kind::kKept:
        caption = tr("Pool (%1), kept").arg(pool);
        break;
      case Kind::kFree:
        caption = tr("Pool (%1), free").arg(pool);
        break;
    }
    figures.push_back({caption, bytesText(part.bytes)});
    spoken.push_back(caption + QLatin1Char(' ') + bytesText(part.bytes));
  }
  const std::uint64_t per_token = model != nullptr ? model->kv_bytes_per_token : 0;
  figures.push_back({tr("KV per token"), per_token == 0 ? noData() : bytesText(per_token)});
  figures_->setFigures(figures);
  bar_->setAccessibleName(parts.isEmpty() ? tr("No model holds memory") : spoken.join(QStringLiteral(", ")));
  QString note = model == nullptr ? tr("No model holds memory.") : QString();
  if (per_token > 0 && model->pool.block_bytes > 0) {
    note = tr("The pool holds %1 tokens: %2 blocks of %3.")
               .arg(countText(model->pool.bytes_total / per_token), countText(model->pool.blocks_total),
                    bytesText(model->pool.block_bytes));
  }
  if (view.resident_bytes > 0) {
    note += QLatin1Char(' ') + tr("The process holds %1 of memory now; blocks never used yet are not in it.")
                                   .arg(bytesText(view.resident_bytes));
  }
  note_->setText(note.trimmed());
}

}  // namespace larder::gui
