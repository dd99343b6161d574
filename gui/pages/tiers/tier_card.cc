// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/pages/tiers/tier_card.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QVBoxLayout>

#include "gui/theme/numbers.h"
#include "gui/widgets/chip.h"
#include "gui/widgets/tier_bar.h"

namespace larder::gui {
namespace {

constexpr int kColumns = 4;

}  // namespace

TierCard::TierCard(const Theme& theme, const QString& name, QWidget* parent)
    : Card(theme, QString(), parent),
      theme_(theme),
      name_(new QLabel),
      fill_(new QWidget),
      bar_(new TierBar(theme, Tier::kHost)),
      amount_(new QLabel),
      content_(new QLabel),
      figures_(new FigureGrid(theme, kColumns)),
      health_(new Chip(theme)),
      health_text_(new QLabel) {
  setObjectName(name);
  titleLine()->insertWidget(0, name_);
  titleLine()->addWidget(health_);
  health_text_->setObjectName(name + QStringLiteral("Health"));
  health_text_->setTextFormat(Qt::PlainText);
  health_text_->setWordWrap(true);
  health_text_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  auto* fill = new QVBoxLayout(fill_);
  fill->setContentsMargins(0, 0, 0, 0);
  fill->setSpacing(4);
  fill->addWidget(bar_);
  auto* under = new QHBoxLayout;
  under->addWidget(amount_);
  under->addStretch(1);
  under->addWidget(content_);
  fill->addLayout(under);
  body()->addWidget(health_text_);
  body()->addWidget(fill_);
  body()->addWidget(figures_);
  connect(&theme, &Theme::changed, this, &TierCard::restyle);
  restyle();
}

void TierCard::showFacts(const TierFacts& facts, bool stale) {
  const QString name = facts.name.isEmpty() ? tierLabel(facts.tier) : facts.name;
  name_->setText(name);
  setNote(facts.note);
  bar_->setTier(facts.tier);
  bar_->setAmounts(facts.capacity, {{facts.used, -1}}, facts.pinned);
  bar_->setStale(stale);
  bar_->setAccessibleName(tr("%1: %2 used, %3").arg(name, facts.amount, facts.content));
  amount_->setText(facts.amount);
  content_->setText(facts.content);
  fill_->setVisible(!facts.amount.isEmpty());
  figures_->setFigures(facts.figures);
  figures_->setVisible(!facts.figures.isEmpty());
  health_->setLabel(facts.health);
  health_->setVisible(!facts.health.text.isEmpty());
  health_text_->setText(facts.health_text);
  health_text_->setVisible(!facts.health_text.isEmpty());
}

void TierCard::restyle() {
  name_->setFont(theme_.font(TextSize::kEmphasis, true));
  amount_->setFont(theme_.font(TextSize::kBody, true));
  for (QLabel* label : {content_, health_text_}) {
    label->setFont(theme_.font(TextSize::kSmall));
    QPalette muted = label->palette();
    muted.setColor(QPalette::WindowText, theme_.color(Tone::kTextSecondary));
    label->setPalette(muted);
  }
}

}  // namespace larder::gui
