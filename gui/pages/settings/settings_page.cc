// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/pages/settings/settings_page.h"

#include <QLabel>
#include <QVBoxLayout>

#include "gui/pages/settings/setting_editor.h"
#include "gui/pages/settings/setting_rules.h"
#include "gui/pages/settings/setting_words.h"
#include "gui/theme/numbers.h"
#include "gui/widgets/card.h"
#include "gui/widgets/search_field.h"

namespace larder::gui {

SettingsPage::SettingsPage(const QString& title, PageContext context)
    : Page(title, Body::kScrolling, context),
      search_(new SearchField(context.theme, tr("Search settings"), QStringLiteral("Ctrl+F"))),
      message_(new QLabel(tr("Reading the settings\u2026"))),
      groups_(new QVBoxLayout) {
  search_->setObjectName(QStringLiteral("settingSearch"));
  search_->setMinimumWidth(260);
  titleRow()->addWidget(search_);
  message_->setObjectName(QStringLiteral("settingMessage"));
  message_->setWordWrap(true);
  body()->addWidget(message_);
  groups_->setSpacing(theme().metrics().gap);
  body()->addLayout(groups_);
  body()->addStretch(1);
  connect(search_, &QLineEdit::textChanged, this, &SettingsPage::search);
  connect(&client(), &EngineClient::linkChanged, this, [this] {
    if (isVisible()) refreshNow();
  });
  themeChanged();
}

SettingsPage::~SettingsPage() {
  for (SettingEditor* editor : std::as_const(editors_)) editor->disconnect(this);
}

void SettingsPage::openWith(const QVariant& argument) { search_->setText(argument.toString()); }

void SettingsPage::focusSearch() { search_->setFocus(); }

void SettingsPage::showSnapshot(const SnapshotView&) {
  client().fetchSettings(this, [this](const QVector<SettingRow>& rows) { showRows(rows); });
}

void SettingsPage::showRows(const QVector<SettingRow>& rows) {
  if (changing_ > 0) return;
  bool same = rows.size() == editors_.size();
  for (const SettingRow& row : rows) same = same && editorOf(row.name) != nullptr;
  if (!same) build(rows);
  for (const SettingRow& row : rows) {
    SettingEditor* editor = editorOf(row.name);
    if (editor->row() != row) editor->showRow(row);
  }
  search();
}

void SettingsPage::build(const QVector<SettingRow>& rows) {
  for (Card* card : std::as_const(cards_)) delete card;
  cards_.clear();
  editors_.clear();
  QVector<QString> order{QStringLiteral("ui")};  // what people come for stands first
  for (const SettingRow& row : rows) {
    if (!order.contains(groupOf(row))) order.push_back(groupOf(row));
  }
  for (const QString& group : std::as_const(order)) {
    auto* card = new Card(theme(), groupTitle(group));
    for (const SettingRow& row : rows) {
      if (groupOf(row) != group) continue;
      auto* editor = new SettingEditor(theme(), row);
      connect(editor, &SettingEditor::changeWanted, this, &SettingsPage::change);
      card->body()->addWidget(editor);
      editors_.push_back(editor);
    }
    cards_.push_back(card);
    groups_->addWidget(card);
  }
}

void SettingsPage::search() {
  int shown = 0, restart = 0;
  for (Card* card : std::as_const(cards_)) {
    bool any = false;
    for (SettingEditor* editor : std::as_const(editors_)) {
      if (editor->parentWidget() != card) continue;
      const bool match = settingMatches(editor->row(), search_->text());
      editor->setVisible(match);
      any = any || match;
      shown += match ? 1 : 0;
      restart += editor->row().restart_pending ? 1 : 0;
    }
    card->setVisible(any);
  }
  setSubtitle(
      restart == 0
          ? tr("%1 of %2 shown").arg(shown).arg(editors_.size())
          : tr("%1 of %2 shown \u00b7 %n wait for a restart", nullptr, restart).arg(shown).arg(editors_.size()));
  if (editors_.isEmpty()) {
    message_->setText(client().linkReason().isEmpty() ? tr("Reading the settings\u2026") : client().linkReason());
  } else {
    message_->setText(
        tr("No setting has \u201c%1\u201d in its name or its help. Esc in the search shows all.").arg(search_->text()));
  }
  message_->setVisible(shown == 0);
}

SettingEditor* SettingsPage::editorOf(const QString& name) const {
  for (SettingEditor* editor : editors_) {
    if (editor->row().name == name) return editor;
  }
  return nullptr;
}

void SettingsPage::change(const QString& name, const QString& value) {
  const SettingEditor* editor = editorOf(name);
  if (editor == nullptr) return;
  const QString before = editor->row().value;
  ++changing_;
  client().perform(command::SetSetting{name, value}, this, [this, name, before, value](const CommandOutcome& outcome) {
    changed(name, before, value, outcome);
  });
}

void SettingsPage::changed(const QString& name, const QString& before, const QString& value,
                           const CommandOutcome& outcome) {
  --changing_;
  SettingEditor* editor = editorOf(name);
  if (editor == nullptr) return;
  editor->showError(outcome.ok ? QString() : outcome.message);
  if (!outcome.ok) return;
  if (name == QLatin1String("ui.theme")) {
    theme().setMode(value == QLatin1String("dark")    ? Theme::Mode::kDark
                    : value == QLatin1String("light") ? Theme::Mode::kLight
                                                      : Theme::Mode::kSystem);
  }
  if (name == QLatin1String("ui.animations")) theme().setReducedMotion(value != QLatin1String("true"));
  const QString title = settingTitle(editor->row()), shown = shownValue(editor->row(), value);
  const QString said =
      outcome.restart_needed ? tr("%1: %2 after a restart").arg(title, shown) : tr("%1: now %2").arg(title, shown);
  shell().showToast(said, tr("Undo"), [this, name, before] { change(name, before); });
  refreshNow();
}

void SettingsPage::themeChanged() {
  message_->setFont(theme().font(TextSize::kBody));
  QPalette muted = message_->palette();
  muted.setColor(QPalette::WindowText, theme().color(Tone::kTextSecondary));
  message_->setPalette(muted);
}

}  // namespace larder::gui
