// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/widgets/confirm_dialog.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QVBoxLayout>

#include "gui/theme/theme.h"

namespace larder::gui {
namespace {

constexpr int kFigureColumns = 2;

}  // namespace

ConfirmDialog::ConfirmDialog(const Theme& theme, const Question& question, QWidget* parent)
    : QDialog(parent), act_(new QPushButton(question.verb)) {
  setWindowTitle(question.verb);
  setObjectName(QStringLiteral("confirmDialog"));
  setAttribute(Qt::WA_DeleteOnClose);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(24, 20, 24, 16);
  column->setSpacing(12);
  auto* title = new QLabel(question.title);
  title->setTextFormat(Qt::PlainText);
  title->setFont(theme.font(TextSize::kEmphasis, true));
  title->setWordWrap(true);
  column->addWidget(title);
  if (!question.figures.isEmpty()) {
    auto* figures = new FigureGrid(theme, kFigureColumns, this);
    figures->setObjectName(QStringLiteral("confirmFigures"));
    column->addWidget(figures);
    figures->setFigures(question.figures);
  }
  auto* text = new QLabel(question.text);
  text->setObjectName(QStringLiteral("confirmText"));
  text->setTextFormat(Qt::PlainText);
  text->setWordWrap(true);
  text->setMinimumWidth(420);
  column->addWidget(text);
  act_->setProperty("role", question.harmless ? QStringLiteral("primary") : QStringLiteral("danger"));
  act_->setObjectName(QStringLiteral("confirmAct"));
  act_->setAutoDefault(false);
  if (!question.name_to_type.isEmpty()) {
    const QString name = question.name_to_type;
    auto* ask = new QLabel(
        tr("To go on, type &the name: %1").arg(QString(name).replace(QLatin1Char('&'), QStringLiteral("&&"))));
    ask->setTextFormat(Qt::PlainText);
    typed_ = new QLineEdit;
    typed_->setObjectName(QStringLiteral("confirmName"));
    typed_->setAccessibleName(tr("Name, typed to confirm"));
    ask->setBuddy(typed_);
    column->addWidget(ask);
    column->addWidget(typed_);
    act_->setEnabled(false);
    connect(typed_, &QLineEdit::textChanged, this,
            [this, name](const QString& now) { act_->setEnabled(now.trimmed() == name); });
  }
  auto* row = new QHBoxLayout;
  row->addStretch(1);
  auto* cancel = new QPushButton(tr("&Cancel"));
  cancel->setDefault(true);
  row->addWidget(cancel);
  row->addWidget(act_);
  column->addLayout(row);
  connect(cancel, &QPushButton::clicked, this, &QDialog::reject);
  connect(act_, &QPushButton::clicked, this, &QDialog::accept);
  cancel->setFocus();
}

}  // namespace larder::gui
