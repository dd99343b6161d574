// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/pages/chat/turn_card.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QStringList>
#include <QVBoxLayout>

#include "gui/models/words.h"
#include "gui/theme/label.h"
#include "gui/theme/numbers.h"
#include "gui/theme/theme.h"
#include "gui/widgets/chip.h"

namespace larder::gui {
namespace {

QString tierName(const QString& tier) {
  if (tier == QLatin1String("device")) return tierLabel(Tier::kDevice);
  if (tier == QLatin1String("host")) return tierLabel(Tier::kHost);
  if (tier == QLatin1String("ram")) return TurnCard::tr("copies in memory");
  if (tier == QLatin1String("disk")) return tierLabel(Tier::kDisk);
  if (tier == QLatin1String("remote")) return tierLabel(Tier::kRemote);
  return {};
}

}  // namespace

QString reuseText(const Verdict& verdict) {
  if (verdict.prompt_tokens == 0) return noData();
  const QString tier = verdict.reused_tokens > 0 ? tierName(verdict.tier) : QString();
  const QString text = TurnCard::tr("%1 of %2 prompt tokens reused")
                           .arg(countText(verdict.reused_tokens), countText(verdict.prompt_tokens));
  return tier.isEmpty() ? text : TurnCard::tr("%1 \u00b7 tier %2").arg(text, tier);
}

TurnCard::TurnCard(const Theme& theme, QWidget* parent)
    : Card(theme, QString(), parent),
      theme_(theme),
      question_(new QLabel),
      answer_(new QLabel),
      error_(new QLabel),
      chip_(new Chip(theme)),
      figures_(new QLabel),
      why_(new QPushButton(tr("Why"))) {
  question_->setObjectName(QStringLiteral("question"));
  answer_->setObjectName(QStringLiteral("answer"));
  error_->setObjectName(QStringLiteral("answerError"));
  figures_->setObjectName(QStringLiteral("figures"));
  for (QLabel* label : {question_, answer_, error_, figures_}) {
    label->setWordWrap(true);
    label->setTextFormat(Qt::PlainText);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
  }
  titleLine()->insertWidget(0, question_, 100);
  body()->addWidget(answer_);
  body()->addWidget(error_);
  auto* row = new QHBoxLayout;
  row->setSpacing(8);
  row->addWidget(chip_);
  row->addWidget(figures_, 1);
  why_->setProperty("role", QStringLiteral("link"));
  why_->setToolTip(tr("Open this request and see why it reused what it did"));
  row->addWidget(why_);
  body()->addLayout(row);
  connect(why_, &QPushButton::clicked, this, [this] { Q_EMIT whyWanted(request_); });
  connect(&theme, &Theme::changed, this, &TurnCard::restyle);
  restyle();
}

QString TurnCard::answerText(const Turn& turn) const {
  if (turn.state == Turn::State::kWaiting) return tr("Reading the prompt\u2026");
  if (turn.answer.isEmpty() && turn.state == Turn::State::kWriting) return QString(QChar(0x2026));
  return turn.answer;
}

QString TurnCard::figuresText(const Turn& turn) const {
  QStringList parts;
  if (turn.start) parts.push_back(reuseText(turn.end ? turn.end->verdict : turn.start->verdict));
  if (turn.end) {
    const Timings& times = turn.end->timings;
    parts.push_back(
        tr("first token after %1").arg(times.first_token_ms > 0 ? durationText(times.first_token_ms) : noData()));
    parts.push_back(
        tr("%1 tokens at %2")
            .arg(countText(turn.end->usage.completion_tokens), rateText(times.decode_tokens_per_s, tr("tok"))));
    if (turn.end->verdict.saved_ms > 0) parts.push_back(tr("saved %1").arg(durationText(turn.end->verdict.saved_ms)));
    if (turn.end->cut_at_limit) parts.push_back(tr("cut at the limit you set"));
  }
  if (turn.state == Turn::State::kStopped) parts.push_back(tr("stopped"));
  return parts.join(QStringLiteral(" \u00b7 "));
}

void TurnCard::showTurn(const Turn& turn) {
  question_->setText(turn.question);
  const QString answer = answerText(turn);
  answer_->setText(answer);
  answer_->setVisible(!answer.isEmpty());
  answer_->setEnabled(turn.state != Turn::State::kWaiting);
  error_->setText(turn.error);
  error_->setVisible(!turn.error.isEmpty());
  chip_->setVisible(turn.start.has_value());
  if (turn.start) chip_->setLabel(verdictLabel((turn.end ? turn.end->verdict : turn.start->verdict).kind));
  request_ = turn.start ? turn.start->request.value : 0;
  why_->setVisible(request_ != 0);
  why_->setAccessibleName(tr("Why request #%1 reused what it did").arg(request_));
  const QString figures = figuresText(turn);
  figures_->setText(figures);
  figures_->setVisible(!figures.isEmpty());
}

void TurnCard::restyle() {
  question_->setFont(theme_.font(TextSize::kBody, true));
  answer_->setFont(theme_.font(TextSize::kBody));
  error_->setFont(theme_.font(TextSize::kBody));
  figures_->setFont(theme_.font(TextSize::kSmall));
  QPalette palette = error_->palette();
  palette.setColor(QPalette::WindowText, theme_.color(Tone::kError));
  error_->setPalette(palette);
  palette.setColor(QPalette::WindowText, theme_.color(Tone::kTextSecondary));
  figures_->setPalette(palette);
}

}  // namespace larder::gui
