// SPDX-License-Identifier: GPL-3.0-or-later
// TokenRows: the tokens around the first difference, this request's above the cached ones, in columns; the differing
// token is framed. Where the text may not be shown, or is empty, ids stand in its place.
// Shapes: up to 16 tokens a row.    Threads: GUI thread.
#pragma once

#include <QString>
#include <QVector>
#include <QWidget>

namespace larder::gui {

class Theme;

struct TokenRow {
  QString name;
  QVector<QString> tokens;  // as shown
  QString id;               // of the differing token
};

class TokenRows final : public QWidget {
  Q_OBJECT

 public:
  explicit TokenRows(const Theme& theme, QWidget* parent = nullptr);
  // differing: index into both rows; -1: none.
  void setRows(TokenRow here, TokenRow cached, int differing);
  QSize sizeHint() const override { return QSize(420, 56); }
  QSize minimumSizeHint() const override { return QSize(240, 56); }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  QVector<int> columnWidths() const;
  void paintToken(QPainter& painter, const QRect& box, const QString& text, bool differs) const;

  const Theme& theme_;
  TokenRow rows_[2];
  int differing_ = -1;
};

// A token as people see it: middle dot for a blank, return sign for a line end.
QString visibleToken(const QString& token);

}  // namespace larder::gui
