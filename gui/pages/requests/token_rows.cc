// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/pages/requests/token_rows.h"

#include <QPainter>
#include <QStringList>
#include <algorithm>

#include "gui/theme/theme.h"

namespace larder::gui {
namespace {

constexpr int kRow = 28;
constexpr int kNames = 112;
constexpr int kIds = 76;
constexpr int kGap = 3;
constexpr qsizetype kLongest = 24;  // letters of one token that are drawn

QString joined(const QVector<QString>& tokens) {
  return QStringList(tokens.begin(), tokens.end()).join(QLatin1Char(' '));
}

}  // namespace

QString visibleToken(const QString& token) {
  QString out = token.left(kLongest);
  out.replace(QLatin1Char(' '), QChar(0x00b7));
  out.replace(QLatin1Char('\n'), QChar(0x23ce));
  out.replace(QLatin1Char('\t'), QChar(0x2192));
  for (QChar& letter : out) {
    if (!letter.isPrint() && !letter.isSurrogate()) letter = QChar(0x25af);
  }
  return token.size() > kLongest ? out + QChar(0x2026) : out;
}

TokenRows::TokenRows(const Theme& theme, QWidget* parent) : QWidget(parent), theme_(theme) {
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void TokenRows::setRows(TokenRow here, TokenRow cached, int differing) {
  rows_[0] = std::move(here);
  rows_[1] = std::move(cached);
  differing_ = differing;
  setAccessibleName(QStringLiteral("%1: %2; %3: %4")
                        .arg(rows_[0].name, joined(rows_[0].tokens), rows_[1].name, joined(rows_[1].tokens)));
  update();
}

QVector<int> TokenRows::columnWidths() const {
  const QFontMetrics metrics(theme_.monoFont(TextSize::kSmall));
  QVector<int> widths(std::max(rows_[0].tokens.size(), rows_[1].tokens.size()), 0);
  for (const TokenRow& row : rows_) {
    for (qsizetype i = 0; i < row.tokens.size(); ++i) {
      widths[i] = std::max(widths[i], metrics.horizontalAdvance(row.tokens[i]) + 8);
    }
  }
  return widths;
}

void TokenRows::paintToken(QPainter& painter, const QRect& box, const QString& text, bool differs) const {
  painter.setPen(differs ? QPen(theme_.color(Tone::kWarning), 2) : QPen(theme_.color(Tone::kBorder)));
  painter.setBrush(theme_.color(differs ? Tone::kWarningSoft : Tone::kSurfaceAlt));
  painter.drawRoundedRect(QRectF(box).adjusted(0.5, 0.5, -0.5, -0.5), 3, 3);
  QFont font = theme_.monoFont(TextSize::kSmall);
  font.setBold(differs);
  painter.setFont(font);
  painter.setPen(theme_.color(differs ? Tone::kWarning : Tone::kText));
  painter.drawText(box, Qt::AlignCenter, text);
}

void TokenRows::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const QVector<int> widths = columnWidths();
  const int room = width() - kNames - kIds;
  // The first columns give way until the differing one and a neighbour are in sight.
  qsizetype first = 0;
  const qsizetype needed = std::min<qsizetype>(widths.size(), std::max(0, differing_) + 2);
  int used = 0;
  for (qsizetype i = 0; i < needed; ++i) used += widths[i] + kGap;
  while (first < differing_ && used > room - 16) used -= widths[first++] + kGap;
  for (int at = 0; at < 2; ++at) {
    const TokenRow& row = rows_[at];
    const int top = at * kRow;
    painter.setFont(theme_.font(TextSize::kSmall));
    painter.setPen(theme_.color(Tone::kTextSecondary));
    painter.drawText(QRect(0, top, kNames - 6, kRow), Qt::AlignLeft | Qt::AlignVCenter, row.name);
    painter.drawText(QRect(width() - kIds, top, kIds, kRow), Qt::AlignRight | Qt::AlignVCenter, row.id);
    int x = kNames;
    for (qsizetype i = first; i < row.tokens.size(); ++i) {
      if (x + widths[i] > kNames + room - 14) {
        painter.setPen(theme_.color(Tone::kTextSecondary));
        painter.drawText(QRect(x, top, 14, kRow), Qt::AlignLeft | Qt::AlignVCenter, QString(QChar(0x2026)));
        break;
      }
      paintToken(painter, QRect(x, top + 4, widths[i], kRow - 8), row.tokens[i], i == differing_);
      x += widths[i] + kGap;
    }
  }
}

}  // namespace larder::gui
