// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/pages/settings/setting_editor.h"

#include <QCheckBox>
#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QVBoxLayout>
#include <QWheelEvent>

#include "gui/pages/settings/setting_rules.h"
#include "gui/pages/settings/setting_words.h"
#include "gui/theme/theme.h"
#include "gui/widgets/chip.h"

namespace larder::gui {
namespace {

constexpr int kControl = 280;

// A wheel that scrolls the page must not change a value on its way.
class CalmCombo final : public QComboBox {
 public:
  CalmCombo() { setFocusPolicy(Qt::StrongFocus); }

 protected:
  void wheelEvent(QWheelEvent* event) override { event->ignore(); }
};

}  // namespace

SettingEditor::SettingEditor(const Theme& theme, const SettingRow& row, QWidget* parent)
    : QWidget(parent),
      theme_(theme),
      row_(row),
      title_(new QLabel(settingTitle(row))),
      name_(new QLabel(row.name)),
      help_(new QLabel),
      range_(new QLabel),
      error_(new QLabel),
      chip_(new Chip(theme)),
      reset_(new QPushButton(tr("Back to the default"))) {
  setObjectName(QStringLiteral("setting-") + row.name);
  auto* columns = new QHBoxLayout(this);
  columns->setContentsMargins(0, 6, 0, 6);
  columns->setSpacing(16);
  auto* texts = new QVBoxLayout;
  texts->setSpacing(2);
  auto* head = new QHBoxLayout;
  head->setSpacing(8);
  head->addWidget(title_);
  head->addWidget(name_);
  head->addWidget(chip_);
  head->addStretch(1);
  texts->addLayout(head);
  for (QLabel* label : {help_, range_, error_}) {
    label->setWordWrap(true);
    label->setTextFormat(Qt::PlainText);
    texts->addWidget(label);
  }
  error_->setObjectName(QStringLiteral("settingError"));
  error_->hide();
  columns->addLayout(texts, 1);
  auto* controls = new QVBoxLayout;
  controls->setSpacing(2);
  controls->addWidget(buildControl());
  reset_->setProperty("role", QStringLiteral("link"));
  reset_->setAccessibleName(tr("Back to the default of %1").arg(title_->text()));
  controls->addWidget(reset_, 0, Qt::AlignRight);
  controls->addStretch(1);
  columns->addLayout(controls);
  connect(reset_, &QPushButton::clicked, this, [this] { Q_EMIT changeWanted(row_.name, row_.default_value); });
  connect(&theme, &Theme::changed, this, &SettingEditor::restyle);
  restyle();
  showRow(row);
}

// A line edit that loses the focus while it is torn down reports an entry; nobody is left to take it.
SettingEditor::~SettingEditor() {
  if (line_ != nullptr) line_->disconnect(this);
}

QWidget* SettingEditor::buildControl() {
  QWidget* control = nullptr;
  if (row_.type == SettingRow::Type::kFlag) {
    control = flag_ = new QCheckBox;
    connect(flag_, &QCheckBox::clicked, this,
            [this](bool on) { Q_EMIT changeWanted(row_.name, on ? QStringLiteral("true") : QStringLiteral("false")); });
  } else if (row_.type == SettingRow::Type::kChoice) {
    control = choice_ = new CalmCombo;
    for (const QString& one : std::as_const(row_.choices)) choice_->addItem(shownValue(row_, one), one);
    connect(choice_, &QComboBox::activated, this,
            [this](int at) { Q_EMIT changeWanted(row_.name, choice_->itemData(at).toString()); });
  } else {
    control = line_ = new QLineEdit;
    if (row_.type == SettingRow::Type::kInteger) line_->setAlignment(Qt::AlignRight);
    connect(line_, &QLineEdit::textEdited, this, [this](const QString& text) {
      error_->setText(checkEntry(row_, text).error);
      error_->setVisible(!error_->text().isEmpty());
    });
    connect(line_, &QLineEdit::editingFinished, this, [this] {
      if (line_->isModified()) entered(line_->text());
    });
  }
  control->setObjectName(QStringLiteral("settingControl"));
  control->setAccessibleName(row_.unit.isEmpty() ? title_->text()
                                                 : QStringLiteral("%1, %2").arg(title_->text(), settingUnit(row_)));
  if (row_.unit.isEmpty() || line_ == nullptr) {
    control->setFixedWidth(kControl);
    return control;
  }
  auto* holder = new QWidget;
  holder->setFixedWidth(kControl);
  auto* row = new QHBoxLayout(holder);
  row->setContentsMargins(0, 0, 0, 0);
  row->addWidget(control, 1);
  auto* unit = new QLabel(settingUnit(row_));
  unit->setEnabled(false);
  unit->setMinimumWidth(80);
  row->addWidget(unit);
  return holder;
}

void SettingEditor::entered(const QString& text) {
  const CheckedEntry checked = checkEntry(row_, text);
  showError(checked.error);
  if (!checked.error.isEmpty()) return;
  line_->setModified(false);
  if (checked.value == row_.value) {
    showValue();
  } else {
    Q_EMIT changeWanted(row_.name, checked.value);
  }
}

void SettingEditor::showError(const QString& error) {
  error_->setText(error);
  error_->setVisible(!error.isEmpty());
  if (!error.isEmpty() && line_ == nullptr) showValue();  // the refused choice is taken back
}

QString SettingEditor::error() const { return error_->text(); }

void SettingEditor::showValue() {
  if (flag_ != nullptr) {
    flag_->setChecked(row_.value == QLatin1String("true"));
    flag_->setText(shownValue(row_, row_.value));
  }
  if (choice_ != nullptr) choice_->setCurrentIndex(choice_->findData(row_.value));
  if (line_ == nullptr || line_->isModified()) return;
  line_->setText(row_.type == SettingRow::Type::kInteger ? shownValue(row_, row_.value) : row_.value);
}

void SettingEditor::showRow(const SettingRow& row) {
  row_ = row;
  help_->setText(settingHelp(row));
  range_->setText(rangeText(row));
  showValue();
  reset_->setVisible(row.value != row.default_value);
  chip_->setVisible(row.overridden || row.restart_pending);
  if (row.restart_pending) chip_->setLabel({tr("after a restart"), QStringLiteral("warning"), Mood::kWarning});
  if (row.overridden) chip_->setLabel({tr("set by --set for this run"), QStringLiteral("lock"), Mood::kNeutral});
}

void SettingEditor::restyle() {
  title_->setFont(theme_.font(TextSize::kBody, true));
  name_->setFont(theme_.monoFont(TextSize::kSmall));
  help_->setFont(theme_.font(TextSize::kBody));
  for (QLabel* label : {name_, range_, error_}) {
    if (label != name_) label->setFont(theme_.font(TextSize::kSmall));
    QPalette palette = label->palette();
    palette.setColor(QPalette::WindowText, theme_.color(label == error_ ? Tone::kError : Tone::kTextSecondary));
    label->setPalette(palette);
  }
}

}  // namespace larder::gui
