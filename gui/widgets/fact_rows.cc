// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/widgets/fact_rows.h"

#include <QGridLayout>
#include <QLabel>

namespace larder::gui {

FactRows::FactRows(const Theme& theme, TextSize size, QWidget* parent)
    : QWidget(parent), theme_(theme), size_(size), grid_(new QGridLayout(this)) {
  grid_->setContentsMargins(0, 0, 0, 0);
  grid_->setHorizontalSpacing(8);
  grid_->setVerticalSpacing(4);
  grid_->setColumnStretch(1, 1);
  connect(&theme, &Theme::changed, this, &FactRows::restyle);
}

void FactRows::setFacts(const Facts& facts) {
  if (facts == shown_) return;
  while (names_.size() < facts.size()) {
    const int row = static_cast<int>(names_.size());
    auto* name = new QLabel;
    auto* value = new QLabel;
    for (QLabel* label : {name, value}) {
      label->setTextFormat(Qt::PlainText);
      label->setWordWrap(true);
    }
    name->setEnabled(false);
    value->setAlignment(Qt::AlignRight | Qt::AlignTop);
    value->setTextInteractionFlags(Qt::TextSelectableByMouse);
    grid_->addWidget(name, row, 0, Qt::AlignTop);
    grid_->addWidget(value, row, 1);
    names_.push_back(name);
    values_.push_back(value);
  }
  for (qsizetype i = 0; i < names_.size(); ++i) {
    const bool used = i < facts.size();
    names_[i]->setVisible(used);
    values_[i]->setVisible(used);
    names_[i]->setText(used ? facts[i].first : QString());
    values_[i]->setText(used ? facts[i].second : QString());
    values_[i]->setAccessibleName(used ? facts[i].first + QStringLiteral(": ") + facts[i].second : QString());
  }
  shown_ = facts;
  restyle();
}

QString FactRows::valueOf(const QString& name) const {
  for (const auto& [known, value] : shown_) {
    if (known == name) return value;
  }
  return {};
}

void FactRows::restyle() {
  for (QLabel* name : std::as_const(names_)) name->setFont(theme_.font(size_));
  for (QLabel* value : std::as_const(values_)) value->setFont(theme_.font(size_, true));
}

}  // namespace larder::gui
