// SPDX-License-Identifier: GPL-3.0-or-later
// Painting of PrefixTreeView. Order of layers: fill, hatch, tier strip, pin edge, text plate, text, memory corner,
// match, ghost, pulse, selection (accent outside, surface line inside, so that it shows on every fill), hover.
#include <QPainter>
#include <QScrollBar>
#include <algorithm>
#include <array>
#include <cmath>

#include "gui/models/words.h"
#include "gui/pages/tree/memory_corner.h"
#include "gui/pages/tree/prefix_tree_view.h"
#include "gui/theme/numbers.h"
#include "gui/widgets/tenant_mark.h"
#include "gui/widgets/tier_bar.h"

namespace larder::gui {
namespace {

constexpr qsizetype kShortestElided = 6;
constexpr double kLabelFrom = 34, kSecondLineFrom = 66, kBytesFrom = 124;  // widths
constexpr double kTwoLines = 34;                                           // height
constexpr double kStrip = 6;
constexpr double kFresh = 60'000, kOld = 86'400'000;  // ms: full colour below, palest above
constexpr double kPalest = 0.42;

Tier dominantTier(const TreeSums& sums) {
  if (sums.device_blocks >= sums.host_blocks && sums.device_blocks >= sums.disk_blocks && sums.device_blocks > 0) {
    return Tier::kDevice;
  }
  return sums.disk_blocks > sums.host_blocks ? Tier::kDisk : Tier::kHost;
}

bool isMixed(const TreeSums& sums) {
  return (sums.device_blocks > 0) + (sums.host_blocks > 0) + (sums.disk_blocks > 0) > 1;
}

// 0 for a run used just now, up to kPalest for one nobody asked for in a day.
double ageShare(const TreeNode& node, WallTime now) {
  const double age = static_cast<double>(now - std::max(node.last_hit, node.created));
  if (age <= kFresh) return 0;
  return kPalest * std::min(1.0, std::log(age / kFresh) / std::log(kOld / kFresh));
}

}  // namespace

void PrefixTreeView::paintEvent(QPaintEvent*) {
  QPainter painter(viewport());
  for (const IcicleBox& box : icicle_.boxes) paintBox(painter, box);
  paintMarks(painter);
  if (hasFocus()) {
    painter.setPen(QPen(theme_.color(Tone::kAccent), 2));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(QRectF(viewport()->rect()).adjusted(1, 1, -1, -1));
  }
}

void PrefixTreeView::paintBox(QPainter& painter, const IcicleBox& box) {
  QRectF rect = boxRect(box);
  if (rect.bottom() < 0 || rect.top() > viewport()->height()) return;
  if (rect.left() < -2) rect.setLeft(-2);
  if (rect.right() > viewport()->width() + 2) rect.setRight(viewport()->width() + 2);
  rect.adjust(0, 0, rect.width() > 3 ? -1 : 0, -1);
  if (rect.width() <= 0) return;
  if (box.row < 0) {
    paintJoined(painter, box, rect);
    return;
  }
  const TreeRow& row = view_->tree->rows[static_cast<std::size_t>(box.row)];
  if (row.kind == TreeRow::Kind::kRun) {
    paintRun(painter, row, rect);
  } else {
    paintGroup(painter, row, rect);
  }
}

void PrefixTreeView::paintStrip(QPainter& painter, const TreeSums& sums, const QRectF& rect) const {
  const double total = static_cast<double>(sums.device_blocks + sums.host_blocks + sums.disk_blocks);
  if (total <= 0) return;
  double x = rect.left();
  const std::array<std::pair<Tier, std::uint64_t>, 3> parts = {
      {{Tier::kDevice, sums.device_blocks}, {Tier::kHost, sums.host_blocks}, {Tier::kDisk, sums.disk_blocks}}};
  for (const auto& [tier, blocks] : parts) {
    const double wide = rect.width() * static_cast<double>(blocks) / total;
    if (wide > 0) drawTierFill(painter, theme_, tier, QRectF(x, rect.bottom() - kStrip, wide, kStrip));
    x += wide;
  }
}

void PrefixTreeView::paintGroup(QPainter& painter, const TreeRow& row, const QRectF& rect) {
  painter.fillRect(rect, theme_.color(Tone::kSurface));
  painter.setPen(theme_.color(Tone::kBorder));
  painter.setBrush(Qt::NoBrush);
  painter.drawRect(rect.adjusted(0.5, 0.5, -0.5, -0.5));
  paintStrip(painter, row.all, rect);
  int indent = 0;
  if (row.kind == TreeRow::Kind::kTenant && rect.width() >= kLabelFrom) {
    drawTenantMark(painter, QRectF(rect.left() + 5, rect.top() + 4, 12, 12), marks_.value(row.tenant.value),
                   theme_.color(Tone::kText));
    indent = 16;
  }
  const QString figures = tr("%1 tok \u00b7 %2").arg(countText(row.all.tokens), bytesText(row.all.bytes));
  paintText(painter, rect.adjusted(0, 0, 0, -kStrip), {view_->tree->labelOf(row, *view_), figures},
            theme_.color(Tone::kText), indent, std::nullopt);
}

bool PrefixTreeView::isDimmed(const TreeRow& row) const { return !search_.isEmpty() && !match_set_.contains(row.key); }

void PrefixTreeView::paintRun(QPainter& painter, const TreeRow& row, const QRectF& rect) {
  const TreeNode& node = view_->tree->nodes[row.node];
  const Tier tier = dominantTier(row.own);
  const bool dim = isDimmed(row);
  const QColor surface = theme_.color(Tone::kSurface);
  const double pale = dim ? 0.76 : ageShare(node, view_->at);
  const QColor fill = mixed(theme_.tierFill(tier), surface, pale);
  QColor ink = dim ? theme_.color(Tone::kTextSecondary) : theme_.tierText(tier);
  if (contrast(theme_.color(Tone::kText), fill) > contrast(ink, fill)) ink = theme_.color(Tone::kText);
  painter.fillRect(rect, fill);
  const Hatch hatch = theme_.tierHatch(tier);
  if (hatch != Hatch::kNone && rect.width() > 3) {
    painter.setOpacity(dim ? 0.3 : 1);
    painter.fillRect(rect, theme_.hatch(hatch, theme_.tierText(tier)));
    painter.setOpacity(1);
  }
  if (isMixed(row.own)) paintStrip(painter, row.own, rect);
  if (node.pinned) painter.fillRect(QRectF(rect.left(), rect.top(), rect.width(), 3), theme_.color(Tone::kText));
  int indent = 0;
  std::optional<QColor> plate;
  if (hatch != Hatch::kNone) plate = fill;
  if (rect.width() >= kSecondLineFrom) {
    const int glyphs = (node.pinned ? 16 : 0) + 16;
    if (plate) painter.fillRect(QRectF(rect.left() + 3, rect.top() + 4, glyphs + 2, 15), *plate);
    if (node.pinned) {
      painter.drawPixmap(QPointF(rect.left() + 4, rect.top() + 5),
                         theme_.pixmap(QStringLiteral("pin"), ink, 13, devicePixelRatioF()));
      indent += 16;
    }
    drawTenantMark(painter, QRectF(rect.left() + 5 + indent, rect.top() + 5, 12, 12), marks_.value(row.tenant.value),
                   ink);
    indent += 16;
  }
  QString figures = tr("%1 tok").arg(countText(row.own.tokens));
  if (rect.width() >= kBytesFrom) figures += QStringLiteral(" \u00b7 %1").arg(bytesText(row.own.bytes));
  const bool copied = node.ram_blocks > 0;
  const double corner = copied && rect.width() >= kLabelFrom ? kMemoryCorner : 0;
  paintText(painter, rect.adjusted(0, 0, -corner, 0), {view_->tree->labelOf(row, *view_), figures}, ink, indent, plate);
  if (copied) drawMemoryCorner(painter, theme_, rect, node.ram_blocks == node.disk_blocks);
  if (!search_.isEmpty() && !dim) {
    painter.setPen(QPen(theme_.color(Tone::kText), 2));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(rect.adjusted(1, 1, -1, -1));
  }
}

void PrefixTreeView::paintJoined(QPainter& painter, const IcicleBox& box, const QRectF& rect) {
  TreeSums sums;
  for (int i = 0; i < box.rows; ++i) {
    const TreeSums& one = view_->tree->rows[static_cast<std::size_t>(box.first_row + i)].all;
    sums.device_blocks += one.device_blocks;
    sums.host_blocks += one.host_blocks;
    sums.disk_blocks += one.disk_blocks;
  }
  const Tier tier = dominantTier(sums);
  const QColor fill = mixed(theme_.tierFill(tier), theme_.color(Tone::kSurface), search_.isEmpty() ? 0.3 : 0.76);
  painter.fillRect(rect, fill);
  if (theme_.tierHatch(tier) != Hatch::kNone && rect.width() > 3) {
    painter.fillRect(rect, theme_.hatch(theme_.tierHatch(tier), theme_.tierText(tier)));
  }
  paintText(painter, rect, {tr("%n more", nullptr, static_cast<int>(box.joined_nodes))}, theme_.color(Tone::kText), 0,
            fill);
}

void PrefixTreeView::paintText(QPainter& painter, const QRectF& rect, const QStringList& lines, const QColor& ink,
                               int indent, const std::optional<QColor>& plate) {
  if (rect.width() < kLabelFrom) return;
  painter.setPen(ink);
  double y = rect.top() + 3;
  for (int i = 0; i < lines.size(); ++i) {
    if (i > 0 && (rect.width() < kSecondLineFrom || rect.height() < kTwoLines - kStrip)) break;
    painter.setFont(theme_.font(i == 0 ? TextSize::kSmall : TextSize::kAxis));
    const QFontMetrics metrics(painter.font());
    const double left = rect.left() + 5 + (i == 0 ? indent : 0);
    const int room = static_cast<int>(rect.right() - left - 3);
    if (room < 12) break;
    const QString text = metrics.elidedText(lines[i], i == 0 ? Qt::ElideMiddle : Qt::ElideRight, room);
    if (text != lines[i] && text.size() < kShortestElided) break;  // "s…m" tells nothing
    const QRectF place(left, y, metrics.horizontalAdvance(text) + 2, metrics.height());
    if (plate) painter.fillRect(place.adjusted(-2, 0, 1, 0), *plate);
    painter.drawText(place, Qt::AlignLeft | Qt::AlignVCenter | Qt::TextDontClip, text);
    y += metrics.height();
  }
}

void PrefixTreeView::paintMarks(QPainter& painter) {
  painter.setBrush(Qt::NoBrush);
  QPen ghost(theme_.color(Tone::kError), 1, Qt::DashLine);
  painter.setPen(ghost);
  for (const Mark& mark : std::as_const(ghosts_)) painter.drawRect(mark.rect.adjusted(0.5, 0.5, -1.5, -1.5));
  const auto outline = [&](const QRectF& rect, Tone tone) {
    painter.setPen(QPen(theme_.color(Tone::kSurface), 2));
    painter.drawRect(rect.adjusted(2, 2, -3, -3));
    painter.setPen(QPen(theme_.color(tone), 3));
    painter.drawRect(rect.adjusted(-0.5, -0.5, -0.5, -0.5));
  };
  for (const IcicleBox& box : icicle_.boxes) {
    if (box.row < 0) continue;
    const std::uint64_t key = view_->tree->rows[static_cast<std::size_t>(box.row)].key;
    const bool chosen = key == selected_;
    if (!pulses_.isEmpty() && pulses_.contains(key)) outline(boxRect(box), Tone::kOk);
    if (chosen) outline(boxRect(box), Tone::kAccent);
    if (key == hovered_ && !chosen) {
      painter.setPen(QPen(theme_.color(Tone::kText), 1));
      painter.drawRect(boxRect(box).adjusted(0.5, 0.5, -1.5, -1.5));
    }
  }
}

}  // namespace larder::gui
