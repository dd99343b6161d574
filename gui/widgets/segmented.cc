// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/widgets/segmented.h"

#include <QButtonGroup>
#include <QFontMetrics>
#include <QHBoxLayout>
#include <QPushButton>

namespace larder::gui {

Segmented::Segmented(const QString& name, const QStringList& choices, QWidget* parent)
    : QWidget(parent), group_(new QButtonGroup(this)) {
  setAccessibleName(name);
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(0);
  group_->setExclusive(true);
  for (int i = 0; i < choices.size(); ++i) {
    auto* button = new QPushButton(choices[i]);
    button->setCheckable(true);
    QFont bold = button->font();  // the chosen one is bold: nothing may move when the choice does
    bold.setBold(true);
    button->setMinimumWidth(QFontMetrics(bold).horizontalAdvance(choices[i]) + 26);
    button->setAccessibleName(QStringLiteral("%1: %2").arg(name, choices[i]));
    const bool first = i == 0, last = i + 1 == choices.size();
    if (!(first && last)) {
      button->setProperty("segment", first  ? QStringLiteral("first")
                                     : last ? QStringLiteral("last")
                                            : QStringLiteral("middle"));
    }
    group_->addButton(button, i);
    row->addWidget(button);
  }
  if (auto* first = group_->button(0)) first->setChecked(true);
  connect(group_, &QButtonGroup::idClicked, this, &Segmented::chosen);
}

int Segmented::current() const { return group_->checkedId(); }

void Segmented::setCurrent(int index) {
  if (auto* button = group_->button(index)) button->setChecked(true);
}

}  // namespace larder::gui
