// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/pages/tree/prefix_tree_view.h"

#include <QDateTime>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QMenu>
#include <QMouseEvent>
#include <QScrollBar>
#include <QToolTip>
#include <algorithm>
#include <cmath>

#include "gui/models/words.h"
#include "gui/theme/label.h"
#include "gui/theme/numbers.h"

namespace larder::gui {
namespace {

constexpr double kMaxScale = 4096;
constexpr std::int64_t kPulseMs = 300, kStillPulseMs = 1000, kGhostMs = 2000;
constexpr int kDragFrom = 4;  // pixels before a press becomes a drag

}  // namespace

PrefixTreeView::PrefixTreeView(Theme& theme, QWidget* parent) : QAbstractScrollArea(parent), theme_(theme) {
  setFrameShape(QFrame::NoFrame);
  setStyleSheet(QStringLiteral("QAbstractScrollArea { background: transparent; border: 0; }"));
  viewport()->setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
  setAccessibleName(tr("Prefix tree"));
  auto empty = std::make_shared<SnapshotView>();
  empty->tree = buildTreeRows({});
  view_ = std::move(empty);
  connect(&marks_timer_, &QTimer::timeout, this, [this] {
    const std::int64_t now = QDateTime::currentMSecsSinceEpoch();
    pulses_.removeIf([now](const auto& pulse) { return pulse.value() <= now; });
    ghosts_.removeIf([now](const Mark& ghost) { return ghost.until <= now; });
    if (pulses_.isEmpty() && ghosts_.isEmpty()) marks_timer_.stop();
    viewport()->update();
  });
  connect(&theme, &Theme::changed, this, [this] { viewport()->update(); });
}

void PrefixTreeView::setView(const SnapshotPtr& view) {
  if (view == view_) return;
  const bool same_tree = view->tree == view_->tree;
  marks_.clear();
  for (const TenantInfo& tenant : view->tenants) marks_.insert(tenant.id.value, tenantMark(*view, tenant.id));
  if (!same_tree) rememberChanges(view);
  view_ = view;
  if (same_tree) return;
  while (!zoom_.isEmpty() && view_->tree->indexOfKey(zoom_.back()) < 0) zoom_.pop_back();
  countSearch();
  relayout();
  if (selected_ != 0 && view_->tree->indexOfKey(selected_) < 0) {
    selected_ = 0;
    Q_EMIT selectionChanged(0);
  }
}

// Hits since the last snapshot pulse, boxes that went leave a ghost where they were.
void PrefixTreeView::rememberChanges(const SnapshotPtr& next) {
  const std::int64_t now = QDateTime::currentMSecsSinceEpoch();
  for (const IcicleBox& box : icicle_.boxes) {
    if (box.row < 0) continue;
    const TreeRow& row = view_->tree->rows[static_cast<std::size_t>(box.row)];
    const TreeNode* node = view_->tree->nodeOf(row);
    if (node == nullptr) continue;
    const int index = next->tree->indexOfKey(row.key);
    if (index < 0) {
      if (ghosts_.size() < 64) ghosts_.push_back({now + kGhostMs, boxRect(box)});
      continue;
    }
    const TreeNode* newer = next->tree->nodeOf(next->tree->rows[static_cast<std::size_t>(index)]);
    if (newer != nullptr && newer->hits > node->hits) {
      pulses_.insert(row.key, now + (theme_.reducedMotion() ? kStillPulseMs : kPulseMs));
    }
  }
  if (!pulses_.isEmpty() || !ghosts_.isEmpty()) marks_timer_.start(100);
}

void PrefixTreeView::relayout() {
  const int root = zoom_.isEmpty() ? 0 : std::max(0, view_->tree->indexOfKey(zoom_.back()));
  IcicleFrame frame;
  frame.root = root;
  frame.viewport = viewport()->width();
  frame.scale = scale_;
  frame.ratio = devicePixelRatioF();
  frame.by = by_;
  frame.join_share = join_share_;
  const int content = static_cast<int>(std::lround(frame.viewport * scale_));
  horizontalScrollBar()->setPageStep(viewport()->width());
  horizontalScrollBar()->setRange(0, std::max(0, content - viewport()->width()));
  frame.offset = horizontalScrollBar()->value();
  icicle_ = layIcicle(*view_->tree, frame);
  const Metrics& metrics = theme_.metrics();
  const double fit = icicle_.levels > 0 ? std::floor(static_cast<double>(viewport()->height()) / icicle_.levels) : 0;
  row_height_ = std::clamp(fit, static_cast<double>(metrics.tree_row_min), static_cast<double>(metrics.tree_row));
  const int height = static_cast<int>(row_height_ * icicle_.levels);
  verticalScrollBar()->setPageStep(viewport()->height());
  verticalScrollBar()->setRange(0, std::max(0, height - viewport()->height()));
  viewport()->update();
  Q_EMIT layoutChanged();
}

void PrefixTreeView::setWidthBy(WidthBy by) {
  by_ = by;
  relayout();
}

void PrefixTreeView::setJoinShare(double share) {
  join_share_ = share;
  relayout();
}

void PrefixTreeView::setSearch(const QString& text) {
  if (text == search_) return;
  search_ = text;
  countSearch();
  viewport()->update();
}

void PrefixTreeView::countSearch() {
  matches_.clear();
  match_set_.clear();
  search_sum_ = {};
  if (search_.isEmpty()) return;
  for (const TreeRow& row : view_->tree->rows) {
    if (row.kind != TreeRow::Kind::kRun) continue;
    if (!view_->tree->labelOf(row, *view_).contains(search_, Qt::CaseInsensitive)) continue;
    matches_.push_back(row.key);
    match_set_.insert(row.key);
    ++search_sum_.matches;
    search_sum_.tokens += row.own.tokens;
    search_sum_.bytes += row.own.bytes;
  }
}

void PrefixTreeView::nextMatch(int by) {
  if (matches_.isEmpty()) return;
  const qsizetype at = matches_.indexOf(selected_);
  const qsizetype count = matches_.size();
  select(matches_[at < 0 ? 0 : (at + by + count) % count]);
}

std::uint64_t PrefixTreeView::zoomRoot() const { return zoom_.isEmpty() ? kRootKey : zoom_.back(); }

QVector<std::uint64_t> PrefixTreeView::zoomPath() const {
  QVector<std::uint64_t> path;
  int index = view_->tree->indexOfKey(zoomRoot());
  while (index >= 0) {
    const TreeRow& row = view_->tree->rows[static_cast<std::size_t>(index)];
    path.prepend(row.key);
    index = row.parent;
  }
  return path;
}

void PrefixTreeView::zoomInto(std::uint64_t key) {
  if (view_->tree->indexOfKey(key) < 0) return;
  if (key == kRootKey) {
    showAll();
    return;
  }
  if (zoomRoot() != key) zoom_.push_back(key);
  scale_ = 1;
  relayout();
}

void PrefixTreeView::zoomBack() {
  if (scale_ > 1) {
    scale_ = 1;
  } else if (!zoom_.isEmpty()) {
    zoom_.pop_back();
  }
  relayout();
}

void PrefixTreeView::showAll() {
  zoom_.clear();
  scale_ = 1;
  relayout();
}

void PrefixTreeView::select(std::uint64_t key) {
  const int index = view_->tree->indexOfKey(key);
  if (index < 0) return;
  const bool drawn = std::any_of(icicle_.boxes.begin(), icicle_.boxes.end(),
                                 [index](const IcicleBox& box) { return box.row == index; });
  if (!drawn) {
    const TreeRow& row = view_->tree->rows[static_cast<std::size_t>(index)];
    zoom_.clear();
    scale_ = 1;
    if (row.parent > 0) zoom_.push_back(view_->tree->rows[static_cast<std::size_t>(row.parent)].key);
    relayout();
  }
  if (key == selected_) return;
  selected_ = key;
  setAccessibleDescription(describe(view_->tree->rows[static_cast<std::size_t>(index)]));
  viewport()->update();
  Q_EMIT selectionChanged(key);
}

QRectF PrefixTreeView::boxRect(const IcicleBox& box) const {
  const double y = box.level * row_height_ - verticalScrollBar()->value();
  return QRectF(box.x, y, box.width, row_height_);
}

int PrefixTreeView::indexAt(const QPointF& at) const {
  const double y = at.y() + verticalScrollBar()->value();
  return y < 0 ? -1 : boxAt(icicle_, at.x(), static_cast<int>(y / row_height_));
}

std::uint64_t PrefixTreeView::keyOfBox(int box) const {
  if (box < 0) return 0;
  const int row = icicle_.boxes[static_cast<std::size_t>(box)].row;
  return row < 0 ? 0 : view_->tree->rows[static_cast<std::size_t>(row)].key;
}

void PrefixTreeView::setScale(double scale, double anchor_x) {
  scale = std::clamp(scale, 1.0, kMaxScale);
  if (scale == scale_) return;
  const double content = (horizontalScrollBar()->value() + anchor_x) / scale_;
  scale_ = scale;
  horizontalScrollBar()->setRange(0, static_cast<int>(viewport()->width() * (scale_ - 1)));
  horizontalScrollBar()->setValue(static_cast<int>(content * scale_ - anchor_x));
  relayout();
}

QString PrefixTreeView::describe(const TreeRow& row) const {
  const TreeNode* node = view_->tree->nodeOf(row);
  const TreeSums& sums = node != nullptr ? row.own : row.all;
  QStringList parts{view_->tree->labelOf(row, *view_), tr("%1 tokens").arg(countText(sums.tokens)),
                    bytesText(sums.bytes)};
  if (const TenantInfo* tenant = findTenant(*view_, row.tenant)) parts.push_back(tenant->name);
  if (node == nullptr) return parts.join(QStringLiteral(", "));
  if (node->pinned) parts.push_back(tr("pinned"));
  parts.push_back(tierLabel(node->device_blocks > 0                           ? Tier::kDevice
                            : node->disk_blocks > 0 && node->host_blocks == 0 ? Tier::kDisk
                                                                              : Tier::kHost));
  if (node->ram_blocks > 0) parts.push_back(tr("%1 of them copied in memory").arg(bytesText(node->ram_bytes)));
  parts.push_back(tr("%n hits", nullptr, static_cast<int>(node->hits)));
  if (node->last_hit > 0) parts.push_back(tr("last hit %1 ago").arg(agoText(node->last_hit, view_->at)));
  if (node->compute_ms > 0) parts.push_back(tr("%1 to compute").arg(durationText(node->compute_ms)));
  return parts.join(QStringLiteral(", "));
}

void PrefixTreeView::resizeEvent(QResizeEvent* event) {
  QAbstractScrollArea::resizeEvent(event);
  relayout();
}

void PrefixTreeView::scrollContentsBy(int, int) { relayout(); }

void PrefixTreeView::mousePressEvent(QMouseEvent* event) {
  drag_from_ = event->position();
  drag_scroll_ = horizontalScrollBar()->value();
  dragged_ = false;
}

void PrefixTreeView::mouseMoveEvent(QMouseEvent* event) {
  if (event->buttons().testFlag(Qt::LeftButton)) {
    const double moved = event->position().x() - drag_from_.x();
    if (std::abs(moved) >= kDragFrom) dragged_ = true;
    if (dragged_) horizontalScrollBar()->setValue(drag_scroll_ - static_cast<int>(moved));
    return;
  }
  const std::uint64_t key = keyOfBox(indexAt(event->position()));
  if (key == hovered_) return;
  hovered_ = key;
  viewport()->update();
}

void PrefixTreeView::mouseReleaseEvent(QMouseEvent* event) {
  if (dragged_ || event->button() != Qt::LeftButton) return;
  const int box = indexAt(event->position());
  if (box >= 0 && icicle_.boxes[static_cast<std::size_t>(box)].row >= 0) select(keyOfBox(box));
}

void PrefixTreeView::mouseDoubleClickEvent(QMouseEvent* event) {
  const int box = indexAt(event->position());
  if (box < 0) return;
  const IcicleBox& at = icicle_.boxes[static_cast<std::size_t>(box)];
  zoomInto(at.row >= 0 ? keyOfBox(box) : keyOfBox(at.parent));
}

void PrefixTreeView::wheelEvent(QWheelEvent* event) {
  if (event->modifiers().testFlag(Qt::ShiftModifier) || event->angleDelta().x() != 0) {
    QAbstractScrollArea::wheelEvent(event);
    return;
  }
  setScale(scale_ * std::pow(1.2, event->angleDelta().y() / 120.0), event->position().x());
  event->accept();
}

void PrefixTreeView::moveSelection(int key) {
  const TreeRows& tree = *view_->tree;
  const int index = tree.indexOfKey(selected_);
  if (index < 0 || key == Qt::Key_Home) {
    select(zoomRoot());
    return;
  }
  const TreeRow& row = tree.rows[static_cast<std::size_t>(index)];
  int next = -1;
  if (key == Qt::Key_Up) next = row.parent;
  if (key == Qt::Key_Down && row.child_count > 0) next = row.first_child;
  if (row.parent >= 0 && (key == Qt::Key_Left || key == Qt::Key_Right)) {
    const TreeRow& parent = tree.rows[static_cast<std::size_t>(row.parent)];
    const int sibling = index + (key == Qt::Key_Left ? -1 : 1);
    if (sibling >= parent.first_child && sibling < parent.first_child + parent.child_count) next = sibling;
  }
  if (next >= 0) select(tree.rows[static_cast<std::size_t>(next)].key);
}

void PrefixTreeView::keyPressEvent(QKeyEvent* event) {
  const double middle = viewport()->width() / 2.0;
  switch (event->key()) {
    case Qt::Key_Up:
    case Qt::Key_Down:
    case Qt::Key_Left:
    case Qt::Key_Right:
    case Qt::Key_Home:
      if (event->modifiers() & (Qt::AltModifier | Qt::ControlModifier)) break;
      moveSelection(event->key());
      return;
    case Qt::Key_Plus:
    case Qt::Key_Equal:
      setScale(scale_ * 1.5, middle);
      return;
    case Qt::Key_Minus:
      setScale(scale_ / 1.5, middle);
      return;
    case Qt::Key_Return:
    case Qt::Key_Enter:
      zoomInto(selected_);
      return;
    case Qt::Key_Backspace:
      zoomBack();
      return;
    case Qt::Key_Escape:
      showAll();
      return;
    case Qt::Key_Delete:
      Q_EMIT deleteWanted();
      return;
    case Qt::Key_P:
    case Qt::Key_M:
    case Qt::Key_V:
    case Qt::Key_C:
      if (event->modifiers() == Qt::NoModifier) {
        if (event->key() == Qt::Key_P) Q_EMIT pinWanted();
        if (event->key() == Qt::Key_M) Q_EMIT moveWanted();
        if (event->key() == Qt::Key_V) Q_EMIT verifyWanted();
        if (event->key() == Qt::Key_C) Q_EMIT codecsWanted();
        return;
      }
      break;
    default:
      break;
  }
  const QString typed = event->text();
  if (!typed.isEmpty() && typed.at(0).isLetterOrNumber() &&
      !(event->modifiers() & (Qt::AltModifier | Qt::ControlModifier))) {
    Q_EMIT searchTyped(typed);
    return;
  }
  QAbstractScrollArea::keyPressEvent(event);
}

void PrefixTreeView::contextMenuEvent(QContextMenuEvent* event) {
  const int box = indexAt(event->pos());
  if (box >= 0 && icicle_.boxes[static_cast<std::size_t>(box)].row >= 0) select(keyOfBox(box));
  auto* menu = new QMenu(this);
  menu->setAttribute(Qt::WA_DeleteOnClose);
  menu->addAction(tr("Zoom in"), this, [this] { zoomInto(selected_); });
  menu->addAction(tr("Whole tree"), this, &PrefixTreeView::showAll);
  menu->addSeparator();
  menu->addAction(tr("Pin or unpin"), this, &PrefixTreeView::pinWanted);
  menu->addAction(tr("Move or copy\u2026"), this, &PrefixTreeView::moveWanted);
  menu->addAction(tr("Verify copies\u2026"), this, &PrefixTreeView::verifyWanted);
  menu->addAction(tr("Compress, or compute exactly again\u2026"), this, &PrefixTreeView::codecsWanted);
  menu->addAction(tr("Delete with all below\u2026"), this, &PrefixTreeView::deleteWanted);
  menu->popup(event->globalPos());
}

bool PrefixTreeView::viewportEvent(QEvent* event) {
  if (event->type() == QEvent::ToolTip) {
    const auto* help = static_cast<QHelpEvent*>(event);
    const int box = indexAt(help->pos());
    if (box < 0) {
      QToolTip::hideText();
      return true;
    }
    const IcicleBox& at = icicle_.boxes[static_cast<std::size_t>(box)];
    const QString text =
        at.row >= 0 ? describe(view_->tree->rows[static_cast<std::size_t>(at.row)])
                    : tr("%n smaller ones; double-click to see them", nullptr, static_cast<int>(at.joined_nodes));
    QToolTip::showText(help->globalPos(), text, viewport());
    return true;
  }
  if (event->type() == QEvent::Leave && hovered_ != 0) {
    hovered_ = 0;
    viewport()->update();
  }
  return QAbstractScrollArea::viewportEvent(event);
}

}  // namespace larder::gui
