// SPDX-License-Identifier: GPL-3.0-or-later
// RowTable: a table whose rows are values with an id. New rows are laid over the old ones by id, with the fewest
// removes, inserts, moves and dataChanged; it never resets, so selection, scroll position and editors survive. What a
// column shows, sorts by and looks like is one TableColumn; a model states its columns and how rows come from a view.
// Shapes:   Row: a value with == and id(): hashable, unique within a table (a double id keeps its first row).
// Threads:  GUI thread.
#pragma once

#include <QAbstractTableModel>
#include <QHash>
#include <QSet>
#include <QVector>
#include <cstdint>
#include <utility>

#include "gui/theme/roles.h"

namespace larder::gui {

enum class Side { kLeft, kRight };  // words stand left, figures right

template <typename Row>
struct TableColumn {
  QString title;
  Side side = Side::kLeft;
  QString (*text)(const Row& row) = nullptr;
  QVariant (*order)(const Row& row) = nullptr;           // what it sorts by; null: its text
  QVariant (*look)(const Row& row, int role) = nullptr;  // any other role (roles.h, tool tip); null: none
};

// A count as a column sorts it.
inline QVariant orderOf(std::uint64_t value) { return QVariant::fromValue<qulonglong>(value); }

// The look of a column of tenants' names: each with its shape.
template <typename Row>
QVariant markLook(const Row& row, int role) {
  return role == kMarkRole ? QVariant(row.mark) : QVariant();
}

template <typename Row>
class RowTable : public QAbstractTableModel {
 public:
  using Id = decltype(std::declval<const Row&>().id());
  using Columns = QVector<TableColumn<Row>>;

  int columnCount(const QModelIndex& parent = QModelIndex()) const override {
    return parent.isValid() ? 0 : static_cast<int>(columns_.size());
  }

  QVariant headerData(int section, Qt::Orientation orientation, int role) const override {
    if (orientation != Qt::Horizontal || section < 0 || section >= columns_.size()) return {};
    if (role == Qt::TextAlignmentRole) return alignment(columns_[section]);
    return role == Qt::DisplayRole ? QVariant(columns_[section].title) : QVariant();
  }

  QVariant data(const QModelIndex& index, int role) const override {
    if (!index.isValid() || index.row() >= rows_.size() || index.column() >= columns_.size()) return {};
    const Row& row = rows_[index.row()];
    const TableColumn<Row>& column = columns_[index.column()];
    switch (role) {
      case Qt::DisplayRole:
        return column.text(row);
      case Qt::TextAlignmentRole:
        return alignment(column);
      case kIdRole:
        return QVariant::fromValue(row.id());
      case kSortRole:
        return column.order != nullptr ? column.order(row) : QVariant(column.text(row));
      default:
        return column.look != nullptr ? column.look(row, role) : QVariant();
    }
  }

  int rowCount(const QModelIndex& parent = QModelIndex()) const override {
    return parent.isValid() ? 0 : static_cast<int>(rows_.size());
  }

  const Row& row(int index) const { return rows_[index]; }
  const QVector<Row>& rows() const { return rows_; }

  // -1: not there.
  int indexOf(const Id& id) const {
    for (int i = 0; i < rows_.size(); ++i) {
      if (rows_[i].id() == id) return i;
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
  RowTable(Columns columns, QObject* parent) : QAbstractTableModel(parent), columns_(std::move(columns)) {}

 private:
  static QVariant alignment(const TableColumn<Row>& column) {
    return QVariant((column.side == Side::kRight ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
  }

  void dropDoubles(QVector<Row>& next) const {
    QSet<Id> seen;
    next.removeIf([&](const Row& row) {
      const Id id = row.id();
      if (seen.contains(id)) return true;
      seen.insert(id);
      return false;
    });
  }

  void removeGone(const QVector<Row>& next) {
    QSet<Id> wanted;
    wanted.reserve(next.size());
    for (const Row& row : next) wanted.insert(row.id());
    for (int end = static_cast<int>(rows_.size()); end > 0;) {
      if (wanted.contains(rows_[end - 1].id())) {
        --end;
        continue;
      }
      int begin = end - 1;
      while (begin > 0 && !wanted.contains(rows_[begin - 1].id())) --begin;
      beginRemoveRows(QModelIndex(), begin, end - 1);
      rows_.remove(begin, end - begin);
      endRemoveRows();
      end = begin;
    }
  }

  void insertAndMove(const QVector<Row>& next) {
    QSet<Id> present;
    for (const Row& row : std::as_const(rows_)) present.insert(row.id());
    for (int i = 0; i < next.size(); ++i) {
      const Id id = next[i].id();
      if (i < rows_.size() && rows_[i].id() == id) continue;
      if (present.contains(id)) {
        int from = i + 1;
        while (rows_[from].id() != id) ++from;
        beginMoveRows(QModelIndex(), from, from, QModelIndex(), i);
        rows_.move(from, i);
        endMoveRows();
        continue;
      }
      int last = i;
      while (last + 1 < next.size() && !present.contains(next[last + 1].id())) ++last;
      beginInsertRows(QModelIndex(), i, last);
      for (int at = i; at <= last; ++at) rows_.insert(at, next[at]);
      endInsertRows();
      i = last;
    }
  }

  void tellChanges(const QVector<Row>& next) {
    for (int i = 0; i < next.size();) {
      if (rows_[i] == next[i]) {
        ++i;
        continue;
      }
      const int first = i;
      while (i < next.size() && !(rows_[i] == next[i])) {
        rows_[i] = next[i];
        ++i;
      }
      Q_EMIT dataChanged(index(first, 0), index(i - 1, columnCount() - 1));
    }
  }

  const Columns columns_;
  QVector<Row> rows_;
};

}  // namespace larder::gui
