// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/widgets/figure_grid.h"

#include <QGridLayout>
#include <QLabel>
#include <QVBoxLayout>

#include "gui/theme/theme.h"

namespace larder::gui {

FigureGrid::FigureGrid(const Theme& theme, int columns, QWidget* parent)
    : QWidget(parent), theme_(theme), columns_(columns), grid_(new QGridLayout(this)) {
  grid_->setContentsMargins(0, 0, 0, 0);
  grid_->setHorizontalSpacing(24);
  grid_->setVerticalSpacing(10);
  for (int column = 0; column < columns; ++column) grid_->setColumnStretch(column, 1);
  connect(&theme, &Theme::changed, this, &FigureGrid::restyle);
}

void FigureGrid::setFigures(const QVector<CaptionedFigure>& figures) {
  if (figures == shown_) return;
  while (captions_.size() < figures.size()) {
    const int at = static_cast<int>(captions_.size());
    auto* cell = new QVBoxLayout;
    cell->setSpacing(1);
    captions_.push_back(new QLabel);
    values_.push_back(new QLabel);
    for (QLabel* label : {captions_.back(), values_.back()}) {
      label->setTextFormat(Qt::PlainText);
      label->setWordWrap(true);
    }
    values_.back()->setTextInteractionFlags(Qt::TextSelectableByMouse);
    cell->addWidget(captions_.back());
    cell->addWidget(values_.back());
    cell->addStretch(1);
    grid_->addLayout(cell, at / columns_, at % columns_);
  }
  for (int i = 0; i < captions_.size(); ++i) {
    const bool used = i < figures.size();
    captions_[i]->setVisible(used);
    values_[i]->setVisible(used);
    captions_[i]->setText(used ? figures[i].caption : QString());
    values_[i]->setText(used ? figures[i].figure : QString());
    values_[i]->setAccessibleName(used ? figures[i].caption + QStringLiteral(": ") + figures[i].figure : QString());
  }
  shown_ = figures;
  restyle();
}

QString FigureGrid::figureOf(const QString& caption) const {
  for (const CaptionedFigure& one : shown_) {
    if (one.caption == caption) return one.figure;
  }
  return {};
}

void FigureGrid::restyle() {
  for (int i = 0; i < captions_.size(); ++i) {
    QPalette muted = captions_[i]->palette();
    muted.setColor(QPalette::WindowText, theme_.color(Tone::kTextSecondary));
    captions_[i]->setPalette(muted);
    captions_[i]->setFont(theme_.font(TextSize::kSmall));
    values_[i]->setFont(theme_.font(TextSize::kBody, true));
  }
}

}  // namespace larder::gui
