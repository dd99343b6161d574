// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/pages/tenants/tenant_dialogs.h"

#include <QApplication>
#include <QCheckBox>
#include <QClipboard>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QRegularExpressionValidator>
#include <QSpinBox>
#include <QVBoxLayout>

namespace larder::gui {
namespace {

constexpr int kMiBMax = 1 << 20;
constexpr int kLabelMax = 64;

QLabel* titleLabel(const Theme& theme, const QString& text) {
  auto* title = new QLabel(text);
  title->setTextFormat(Qt::PlainText);
  title->setFont(theme.font(TextSize::kEmphasis, true));
  title->setWordWrap(true);
  return title;
}

}  // namespace

FormDialog::FormDialog(PageContext context, const QString& title, const QString& verb, QWidget* parent)
    : QDialog(parent),
      context_(context),
      column_(new QVBoxLayout(this)),
      fields_(new QFormLayout),
      refusal_(new QLabel),
      act_(new QPushButton(verb)) {
  setWindowTitle(title);
  setAttribute(Qt::WA_DeleteOnClose);
  setMinimumWidth(460);
  column_->setContentsMargins(24, 20, 24, 16);
  column_->setSpacing(12);
  column_->addWidget(titleLabel(context.theme, title));
  fields_->setHorizontalSpacing(16);
  fields_->setVerticalSpacing(10);
  column_->addLayout(fields_);
  refusal_->setObjectName(QStringLiteral("formRefusal"));
  refusal_->setTextFormat(Qt::PlainText);
  refusal_->setWordWrap(true);
  refusal_->hide();
  QPalette red = refusal_->palette();
  red.setColor(QPalette::WindowText, context.theme.color(Tone::kError));
  refusal_->setPalette(red);
  column_->addWidget(refusal_);
  auto* row = new QHBoxLayout;
  row->addStretch(1);
  auto* cancel = new QPushButton(tr("&Cancel"));
  cancel->setAutoDefault(false);
  act_->setProperty("role", QStringLiteral("primary"));
  act_->setObjectName(QStringLiteral("formAct"));
  act_->setDefault(true);
  row->addWidget(cancel);
  row->addWidget(act_);
  column_->addLayout(row);
  connect(cancel, &QPushButton::clicked, this, &QDialog::reject);
  connect(act_, &QPushButton::clicked, this, [this] { send(command()); });
}

void FormDialog::explain(const QString& text) {
  auto* note = new QLabel(text);
  note->setWordWrap(true);
  note->setFont(context_.theme.font(TextSize::kSmall));
  note->setEnabled(false);
  column_->insertWidget(column_->count() - 2, note);
}

void FormDialog::send(Command command) {
  act_->setEnabled(false);
  context_.client.perform(std::move(command), this, [this](const CommandOutcome& outcome) {
    act_->setEnabled(true);
    if (!outcome.ok) {
      refusal_->setText(outcome.message);
      refusal_->show();
      return;
    }
    agreed(outcome);
    accept();
  });
}

NewTenantDialog::NewTenantDialog(PageContext context, QWidget* parent)
    : FormDialog(context, tr("New tenant"), tr("C&reate tenant"), parent), name_(new QLineEdit), limit_(new QSpinBox) {
  setObjectName(QStringLiteral("newTenant"));
  name_->setObjectName(QStringLiteral("tenantName"));
  name_->setAccessibleName(tr("Name of the tenant"));
  static const QRegularExpression kName(QStringLiteral("[A-Za-z0-9 _.\\-]{1,64}"));
  name_->setValidator(new QRegularExpressionValidator(kName, name_));
  name_->setPlaceholderText(tr("for example: Home Assistant"));
  limit_->setObjectName(QStringLiteral("tenantLimit"));
  limit_->setAccessibleName(tr("Limit in MiB"));
  limit_->setRange(0, kMiBMax);
  limit_->setMinimumHeight(context.theme.metrics().control);
  limit_->setSingleStep(64);
  limit_->setSuffix(tr(" MiB"));
  limit_->setSpecialValueText(tr("no limit"));
  limit_->setGroupSeparatorShown(true);
  fields()->addRow(tr("&Name"), name_);
  fields()->addRow(tr("&Limit in the pool"), limit_);
  explain(
      tr("Letters a to z, digits, blank, dot, dash and underscore. A tenant shares no prefix with another one. What "
         "gives way when room is short is decided by the pool's policy."));
  connect(name_, &QLineEdit::textChanged, this, [this] { setReady(!name_->text().trimmed().isEmpty()); });
  setReady(false);
  name_->setFocus();
}

Command NewTenantDialog::command() const {
  return command::CreateTenant{name_->text().trimmed(), static_cast<std::uint64_t>(limit_->value()) << 20};
}

void NewTenantDialog::agreed(const CommandOutcome& outcome) { Q_EMIT made(outcome.tenant, name_->text().trimmed()); }

NewKeyDialog::NewKeyDialog(PageContext context, const TenantInfo& tenant, QWidget* parent)
    : FormDialog(context, tr("New key for %1").arg(tenant.name), tr("C&reate key"), parent),
      tenant_(tenant.id),
      label_(new QLineEdit),
      admin_(new QCheckBox(tr("&Admin: may see and change everything"))) {
  setObjectName(QStringLiteral("newKey"));
  label_->setObjectName(QStringLiteral("keyLabel"));
  label_->setAccessibleName(tr("Label of the key"));
  label_->setMaxLength(kLabelMax);
  label_->setPlaceholderText(tr("for example: kitchen tablet"));
  admin_->setObjectName(QStringLiteral("keyAdmin"));
  fields()->addRow(tr("&Label"), label_);
  fields()->addRow(QString(), admin_);
  explain(
      tr("The tenant comes from the key, never from the request. The key is shown once; Larder keeps only its "
         "hash."));
  connect(label_, &QLineEdit::textChanged, this, [this] { setReady(!label_->text().trimmed().isEmpty()); });
  setReady(false);
  label_->setFocus();
}

Command NewKeyDialog::command() const {
  return command::CreateKey{tenant_, label_->text().trimmed(), admin_->isChecked()};
}

void NewKeyDialog::agreed(const CommandOutcome& outcome) { Q_EMIT made(label_->text().trimmed(), outcome.secret); }

KeyShownDialog::KeyShownDialog(const Theme& theme, const QString& label, const QString& secret, QWidget* parent)
    : QDialog(parent), secret_(new QLineEdit(secret)) {
  setWindowTitle(tr("The new key"));
  setObjectName(QStringLiteral("keyShown"));
  setAttribute(Qt::WA_DeleteOnClose);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(24, 20, 24, 16);
  column->setSpacing(12);
  column->addWidget(titleLabel(theme, tr("Key \u201c%1\u201d: copy it now").arg(label)));
  auto* row = new QHBoxLayout;
  secret_->setReadOnly(true);
  secret_->setObjectName(QStringLiteral("keySecret"));
  secret_->setFont(theme.monoFont(TextSize::kBody));
  secret_->setMinimumWidth(secret_->fontMetrics().horizontalAdvance(secret) + 32);
  secret_->setAccessibleName(tr("The new key"));
  secret_->setCursorPosition(0);
  auto* copy = new QPushButton(theme.icon(QStringLiteral("copy")), QLatin1Char(' ') + tr("&Copy"));
  copy->setObjectName(QStringLiteral("keyCopy"));
  row->addWidget(secret_, 1);
  row->addWidget(copy);
  column->addLayout(row);
  auto* note =
      new QLabel(tr("It is shown this once. Whoever has it can use this engine as the tenant; if it is lost, "
                    "revoke it and create another."));
  note->setWordWrap(true);
  column->addWidget(note);
  auto* end = new QHBoxLayout;
  auto* state = new QLabel;
  state->setEnabled(false);
  end->addWidget(state, 1);
  auto* close = new QPushButton(tr("I &have it: close"));
  close->setObjectName(QStringLiteral("keyClose"));
  close->setAutoDefault(false);
  end->addWidget(close);
  column->addLayout(end);
  copy->setDefault(true);
  connect(copy, &QPushButton::clicked, this, [this, state] {
    QApplication::clipboard()->setText(secret_->text());
    state->setText(tr("Copied"));
  });
  connect(close, &QPushButton::clicked, this, &QDialog::accept);
  copy->setFocus();
}

KeyShownDialog::~KeyShownDialog() { secret_->setText(QString()); }

}  // namespace larder::gui
