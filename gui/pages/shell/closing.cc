// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/pages/shell/closing.h"

#include <QApplication>
#include <QDialog>
#include <QEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>
#include <algorithm>

#include "gui/pages/shell/tray.h"
#include "gui/theme/theme.h"

namespace larder::gui {
namespace {

constexpr QLatin1String kSetting("ui.close");
constexpr QLatin1String kTray("tray");
constexpr QLatin1String kStop("stop");

QPushButton* addButton(QHBoxLayout& row, const QString& name, const QString& text, const QString& role) {
  auto* button = new QPushButton(text);
  button->setObjectName(name);
  button->setProperty("role", role);
  button->setAutoDefault(false);
  row.addWidget(button);
  return button;
}

}  // namespace

bool servesPrograms(const EngineClient& client) {
  if (client.attached() || client.apiUrl().isEmpty()) return false;
  const SnapshotView& view = *client.view();
  const bool key_used =
      std::any_of(view.keys.begin(), view.keys.end(), [](const KeyInfo& key) { return key.last_used > 0; });
  // Programs of this machine that need no key are the tenant `local` (api.keyless_loopback).
  const bool without_key = std::any_of(view.tenants.begin(), view.tenants.end(), [](const TenantInfo& tenant) {
    return tenant.name == QLatin1String("local") && tenant.requests > 0;
  });
  return key_used || without_key || view.running + view.queued > 0;
}

Closing::Closing(QWidget& window, EngineClient& client, const Theme& theme, Tray& tray)
    : window_(window), client_(client), theme_(theme), tray_(tray) {
  window.installEventFilter(this);
  connect(&tray, &Tray::openWanted, this, &Closing::openAgain);
  connect(&tray, &Tray::stopWanted, this, &Closing::leave);
}

bool Closing::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() != QEvent::Close || leaving_ || !servesPrograms(client_)) {
    return QObject::eventFilter(watched, event);
  }
  event->ignore();
  if (deciding_ || dialog_ != nullptr) return true;
  deciding_ = true;
  // Not inside the event: a window does not close while it is closing.
  QMetaObject::invokeMethod(this, &Closing::readRule, Qt::QueuedConnection);
  return true;
}

void Closing::readRule() {
  client_.fetchSettings(this, [this](const QVector<SettingRow>& rows) {
    deciding_ = false;
    const auto row = std::find_if(rows.begin(), rows.end(), [](const SettingRow& one) { return one.name == kSetting; });
    decide(row == rows.end() ? QString() : row->value);
  });
}

void Closing::decide(const QString& rule) {
  if (rule == kStop || (rule == kTray && tray_.available())) {
    obey(rule);
  } else {
    ask();
  }
}

void Closing::ask() {
  const bool tray = tray_.available();
  auto* dialog = new QDialog(&window_);
  dialog_ = dialog;
  dialog->setObjectName(QStringLiteral("closeDialog"));
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setWindowTitle(tr("Close the window"));
  auto* column = new QVBoxLayout(dialog);
  column->setContentsMargins(24, 20, 24, 16);
  column->setSpacing(12);
  auto* title = new QLabel(tray ? tr("Go on serving without the window?") : tr("Stop serving?"));
  title->setFont(theme_.font(TextSize::kEmphasis, true));
  column->addWidget(title);
  const QString served = tr("Programs use this engine at %1.").arg(client_.apiUrl());
  const QString choice = tray ? tr("Larder can go on serving them from the tray, or stop. Your answer is kept; the "
                                   "settings can change it.")
                              : tr("This desktop has no tray, so Larder cannot go on without its window.");
  auto* text = new QLabel(served + QLatin1Char('\n') + choice);
  text->setObjectName(QStringLiteral("closeText"));
  text->setTextFormat(Qt::PlainText);
  text->setWordWrap(true);
  text->setMinimumWidth(440);
  column->addWidget(text);
  auto* row = new QHBoxLayout;
  row->addStretch(1);
  auto* cancel = addButton(*row, QStringLiteral("closeCancel"), tr("&Cancel"), QString());
  auto* stop = addButton(*row, QStringLiteral("closeStop"), tr("&Stop serving"), QStringLiteral("danger"));
  connect(cancel, &QPushButton::clicked, dialog, &QDialog::reject);
  connect(stop, &QPushButton::clicked, this, [this, tray] {
    dialog_->close();
    if (tray) {
      remember(kStop);
    } else {
      obey(kStop);
    }
  });
  QPushButton* wanted = cancel;
  if (tray) {
    wanted = addButton(*row, QStringLiteral("closeTray"), tr("&Keep serving in the tray"), QStringLiteral("primary"));
    connect(wanted, &QPushButton::clicked, this, [this] {
      dialog_->close();
      remember(kTray);
    });
  }
  column->addLayout(row);
  wanted->setDefault(true);
  dialog->open();
  wanted->setFocus();
}

void Closing::obey(const QString& rule) {
  if (rule == kStop) {
    leave();
    return;
  }
  QApplication::setQuitOnLastWindowClosed(false);  // the engine goes on while no window is open
  tray_.showIcon(tr("Larder serves at %1").arg(client_.apiUrl()));
  window_.hide();
}

// Obeyed once the answer is written, or refused: the engine ends with the window.
void Closing::remember(const QString& rule) {
  client_.perform(command::SetSetting{kSetting, rule}, this, [this, rule](const CommandOutcome&) { obey(rule); });
}

void Closing::openAgain() {
  tray_.hideIcon();
  window_.show();
  window_.raise();
  window_.activateWindow();
  QApplication::setQuitOnLastWindowClosed(true);
}

void Closing::leave() {
  leaving_ = true;
  tray_.hideIcon();
  window_.close();
  Q_EMIT left();
}

}  // namespace larder::gui
