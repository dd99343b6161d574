// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/pages/overview/connect_card.h"

#include <QApplication>
#include <QClipboard>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

#include "gui/bridge/engine_client.h"
#include "gui/theme/theme.h"

namespace larder::gui {

ConnectCard::ConnectCard(const Theme& theme, EngineClient& client, QWidget* parent)
    : Card(theme, tr("Connect a program"), parent),
      theme_(theme),
      client_(client),
      command_(new QLabel),
      note_(new QLabel) {
  auto* copy = new QPushButton(QLatin1Char(' ') + tr("Copy"));
  copy->setProperty("role", QStringLiteral("flat"));
  copy->setIcon(theme.icon(QStringLiteral("copy")));
  copy->setAccessibleName(tr("Copy the command"));
  titleLine()->addWidget(copy);
  command_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  command_->setMinimumWidth(1);
  command_->setContentsMargins(12, 10, 12, 10);
  command_->setObjectName(QStringLiteral("curl"));
  body()->addWidget(command_);
  note_->setWordWrap(true);
  body()->addWidget(note_);
  auto* row = new QHBoxLayout;
  auto* key = new QPushButton(QLatin1Char(' ') + tr("Make a key\u2026"));
  key->setIcon(theme.icon(QStringLiteral("api-key")));
  key->setVisible(!client.attached());  // keys are made in the window at the engine
  row->addWidget(key);
  row->addStretch(1);
  body()->addLayout(row);
  body()->addStretch(1);
  connect(copy, &QPushButton::clicked, this, [this] {
    QApplication::clipboard()->setText(commandText());
    Q_EMIT copied();
  });
  connect(key, &QPushButton::clicked, this, &ConnectCard::keyWanted);
  connect(&client, &EngineClient::apiChanged, this, &ConnectCard::refill);
  connect(&client, &EngineClient::viewChanged, this, &ConnectCard::refill);
  connect(&theme, &Theme::changed, this, &ConnectCard::refill);
  refill();
}

QString ConnectCard::commandText() const {
  const QString url = client_.apiUrl().isEmpty() ? QStringLiteral("http://127.0.0.1:4114") : client_.apiUrl();
  const ModelInfo* model = readyModel(*client_.view());
  return QStringLiteral(
             "curl %1/v1/chat/completions \\\n  -H \"Authorization: Bearer $LARDER_KEY\" \\\n"
             "  -H \"Content-Type: application/json\" \\\n  -d '{\"model\": \"%2\",\n"
             "       \"messages\": [{\"role\": \"user\",\n                     \"content\": \"%3\"}]}'")
      .arg(url, model != nullptr ? model->name : QStringLiteral("MODEL"), tr("Hello!"));
}

void ConnectCard::refill() {
  const QString style = QStringLiteral("QLabel#curl { background: %1; border: 1px solid %2; border-radius: 4px; }")
                            .arg(theme_.color(Tone::kSurfaceAlt).name(), theme_.color(Tone::kBorder).name());
  if (command_->styleSheet() != style) command_->setStyleSheet(style);
  command_->setFont(theme_.monoFont(TextSize::kAxis));
  command_->setText(commandText());
  note_->setFont(theme_.font(TextSize::kSmall));
  note_->setEnabled(false);
  const bool ready = readyModel(*client_.view()) != nullptr;
  QString note = client_.attached() ? tr("The API answers at %1.").arg(client_.place())
                                    : tr("The API answers on this computer only.");
  if (!ready) note += QLatin1Char(' ') + tr("It says 503, \u201cno model loaded\u201d, until one is.");
  if (!client_.apiError().isEmpty()) note = client_.apiError();
  note_->setText(note);
}

}  // namespace larder::gui
