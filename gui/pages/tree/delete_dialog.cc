// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/pages/tree/delete_dialog.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

#include "gui/theme/numbers.h"
#include "gui/theme/theme.h"

namespace larder::gui {

DeleteDialog::DeleteDialog(const Theme& theme, const QString& label, const CommandOutcome& dry_run, double compute_ms,
                           QWidget* parent)
    : QDialog(parent) {
  setWindowTitle(tr("Delete"));
  setObjectName(QStringLiteral("deleteDialog"));
  setAttribute(Qt::WA_DeleteOnClose);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(24, 20, 24, 16);
  column->setSpacing(12);
  auto* title = new QLabel(tr("Delete \u201c%1\u201d with all below?").arg(label));
  title->setFont(theme.font(TextSize::kEmphasis, true));
  title->setWordWrap(true);
  column->addWidget(title);
  auto* text =
      new QLabel(tr("%1 tokens in %Ln blocks, %2. To compute them again takes about %3. Pins in it go with it.",
                    nullptr, static_cast<int>(dry_run.blocks))
                     .arg(countText(dry_run.tokens), bytesText(dry_run.bytes), durationText(compute_ms)));
  text->setWordWrap(true);
  text->setMinimumWidth(400);
  column->addWidget(text);
  if (!dry_run.detail.isEmpty()) {
    auto* detail = new QLabel(dry_run.detail);
    detail->setWordWrap(true);
    detail->setEnabled(false);
    column->addWidget(detail);
  }
  auto* row = new QHBoxLayout;
  row->addStretch(1);
  auto* cancel = new QPushButton(tr("Cancel"));
  auto* act = new QPushButton(tr("Delete %1").arg(bytesText(dry_run.bytes)));
  act->setProperty("role", QStringLiteral("danger"));
  act->setObjectName(QStringLiteral("deleteConfirm"));
  act->setAutoDefault(false);
  cancel->setDefault(true);
  row->addWidget(cancel);
  row->addWidget(act);
  column->addLayout(row);
  connect(cancel, &QPushButton::clicked, this, &QDialog::reject);
  connect(act, &QPushButton::clicked, this, &QDialog::accept);
  cancel->setFocus();
}

}  // namespace larder::gui
