// SPDX-License-Identifier: GPL-3.0-or-later
// PrefixTreeView: the prefix tree as an icicle, painted over the flat rows of the snapshot. Fill and hatch mean tier, a
// shape means tenant, lightness means age, a thick top edge means pinned, a folded corner means that what lies on disk
// has a copy in memory (hollow: a part of it has).
// Keys:     arrows parent, child, sibling; Home root; + and - zoom; Enter zooms in; Backspace back; Esc whole tree;
//           P pins, Del deletes; letters search.
// Ensures:  selection and zoom are by key and survive every refresh; hovering starts no work.    Threads: GUI thread.
#pragma once

#include <QAbstractScrollArea>
#include <QHash>
#include <QSet>
#include <QTimer>
#include <QVector>
#include <optional>

#include "gui/bridge/view.h"
#include "gui/pages/tree/icicle_layout.h"
#include "gui/theme/theme.h"

namespace larder::gui {

struct SearchSum {
  std::uint32_t matches = 0;
  std::uint64_t tokens = 0, bytes = 0;
};

class PrefixTreeView final : public QAbstractScrollArea {
  Q_OBJECT

 public:
  explicit PrefixTreeView(Theme& theme, QWidget* parent = nullptr);

  void setView(const SnapshotPtr& view);
  void setWidthBy(WidthBy by);
  void setJoinShare(double share);
  void setSearch(const QString& text);
  SearchSum searchSum() const { return search_sum_; }
  void nextMatch(int by);

  std::uint64_t selected() const { return selected_; }
  void select(std::uint64_t key);  // brings it into the zoomed part when needed
  std::uint64_t zoomRoot() const;
  void zoomInto(std::uint64_t key);
  void zoomBack();
  void showAll();
  QVector<std::uint64_t> zoomPath() const;  // from the root to the zoomed row

  const Icicle& icicle() const { return icicle_; }
  QRectF boxRect(const IcicleBox& box) const;  // in the viewport
  QSize sizeHint() const override { return QSize(800, 420); }

 Q_SIGNALS:
  void selectionChanged(quint64 key);
  void layoutChanged();  // zoom, counts
  void pinWanted();
  void moveWanted();
  void verifyWanted();
  void codecsWanted();
  void deleteWanted();
  void searchTyped(const QString& text);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void scrollContentsBy(int dx, int dy) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void contextMenuEvent(QContextMenuEvent* event) override;
  bool viewportEvent(QEvent* event) override;
  bool focusNextPrevChild(bool) override { return false; }

 private:
  struct Mark {
    std::int64_t until = 0;
    QRectF rect;  // of a box that is gone
  };

  void relayout();
  void rememberChanges(const SnapshotPtr& next);
  void setScale(double scale, double anchor_x);
  int indexAt(const QPointF& at) const;
  std::uint64_t keyOfBox(int box) const;
  void moveSelection(int key);
  void countSearch();
  QString describe(const TreeRow& row) const;
  double rowHeight() const { return row_height_; }

  // tree_paint.cc
  void paintBox(QPainter& painter, const IcicleBox& box);
  void paintGroup(QPainter& painter, const TreeRow& row, const QRectF& rect);
  void paintRun(QPainter& painter, const TreeRow& row, const QRectF& rect);
  void paintJoined(QPainter& painter, const IcicleBox& box, const QRectF& rect);
  void paintText(QPainter& painter, const QRectF& rect, const QStringList& lines, const QColor& ink, int indent,
                 const std::optional<QColor>& plate);
  void paintMarks(QPainter& painter);
  void paintStrip(QPainter& painter, const TreeSums& sums, const QRectF& rect) const;
  bool isDimmed(const TreeRow& row) const;

  Theme& theme_;
  SnapshotPtr view_;
  Icicle icicle_;
  WidthBy by_ = WidthBy::kTokens;
  double join_share_ = 0.001;
  double scale_ = 1;
  double row_height_ = 40;
  std::uint64_t selected_ = 0;
  std::uint64_t hovered_ = 0;
  QVector<std::uint64_t> zoom_;  // the last is the root shown; empty: all
  QString search_;
  QVector<std::uint64_t> matches_;  // in the order of the tree
  QSet<std::uint64_t> match_set_;
  QHash<std::uint32_t, int> marks_;  // tenant -> shape
  SearchSum search_sum_;
  QHash<std::uint64_t, std::int64_t> pulses_;  // key -> until
  QVector<Mark> ghosts_;
  QTimer marks_timer_;
  QPointF drag_from_;
  int drag_scroll_ = 0;
  bool dragged_ = false;
};

}  // namespace larder::gui
