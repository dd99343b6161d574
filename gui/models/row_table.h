// SPDX-License-Identifier: GPL-3.0-or-later
// RowTable: a table whose rows are values with an id. New rows are laid over the old ones by id, with the fewest
// removes, inserts, moves and dataChanged; it never resets, so selection, scroll position and editors survive.
// Shapes:   Row: a value; Id: hashable, unique within a table (a double id keeps its first row).
// Threads:  GUI thread.
#pragma once

#include <QAbstractTableModel>
#include <QHash>
#include <QSet>
#include <QVector>
#include <utility>

#include "gui/theme/roles.h"

namespace larder::gui {

template <typename Row, typename Id>
class RowTable : public QAbstractTableModel {
 public:
  using QAbstractTableModel::QAbstractTableModel;

  int rowCount(const QModelIndex& parent = QModelIndex()) const override {
    return parent.isValid() ? 0 : static_cast<int>(rows_.size());
  }

  const Row& row(int index) const { return rows_[index]; }
  const QVector<Row>& rows() const { return rows_; }

  // -1: not there.
  int indexOf(const Id& id) const {
    for (int i = 0; i < rows_.size(); ++i) {
      if (idOf(rows_[i]) == id) return i;
    }
    return -1;
  }

  void setRows(QVector<Row> next) {
    dropDoubles(next);
    removeGone(next);
    insertAndMove(next);
    tellChanges(next);
  }

 protected:
  virtual Id idOf(const Row& row) const = 0;
  virtual bool same(const Row& a, const Row& b) const = 0;

 private:
  void dropDoubles(QVector<Row>& next) const {
    QSet<Id> seen;
    next.removeIf([&](const Row& row) {
      const Id id = idOf(row);
      if (seen.contains(id)) return true;
      seen.insert(id);
      return false;
    });
  }

  void removeGone(const QVector<Row>& next) {
    QSet<Id> wanted;
    wanted.reserve(next.size());
    for (const Row& row : next) wanted.insert(idOf(row));
    for (int end = static_cast<int>(rows_.size()); end > 0;) {
      if (wanted.contains(idOf(rows_[end - 1]))) {
        --end;
        continue;
      }
      int begin = end - 1;
      while (begin > 0 && !wanted.contains(idOf(rows_[begin - 1]))) --begin;
      beginRemoveRows(QModelIndex(), begin, end - 1);
      rows_.remove(begin, end - begin);
      endRemoveRows();
      end = begin;
    }
  }

  void insertAndMove(const QVector<Row>& next) {
    QSet<Id> present;
    for (const Row& row : std::as_const(rows_)) present.insert(idOf(row));
    for (int i = 0; i < next.size(); ++i) {
      const Id id = idOf(next[i]);
      if (i < rows_.size() && idOf(rows_[i]) == id) continue;
      if (present.contains(id)) {
        int from = i + 1;
        while (idOf(rows_[from]) != id) ++from;
        beginMoveRows(QModelIndex(), from, from, QModelIndex(), i);
        rows_.move(from, i);
        endMoveRows();
        continue;
      }
      int last = i;
      while (last + 1 < next.size() && !present.contains(idOf(next[last + 1]))) ++last;
      beginInsertRows(QModelIndex(), i, last);
      for (int at = i; at <= last; ++at) rows_.insert(at, next[at]);
      endInsertRows();
      i = last;
    }
  }

  void tellChanges(const QVector<Row>& next) {
    for (int i = 0; i < next.size();) {
      if (same(rows_[i], next[i])) {
        ++i;
        continue;
      }
      const int first = i;
      while (i < next.size() && !same(rows_[i], next[i])) {
        rows_[i] = next[i];
        ++i;
      }
      Q_EMIT dataChanged(index(first, 0), index(i - 1, columnCount() - 1));
    }
  }

  QVector<Row> rows_;
};

}  // namespace larder::gui
