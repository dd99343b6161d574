// SPDX-License-Identifier: GPL-3.0-or-later
// TierCard: one tier: how full it is, what moves through it, and whether it is sound.
// Threads: GUI thread.
#pragma once

#include "gui/pages/tiers/tier_facts.h"
#include "gui/widgets/card.h"

class QLabel;

namespace larder::gui {

class Chip;
class TierBar;

class TierCard final : public Card {
  Q_OBJECT

 public:
  TierCard(const Theme& theme, const QString& name, QWidget* parent = nullptr);
  void showFacts(const TierFacts& facts, bool stale);

 private:
  void restyle();

  const Theme& theme_;
  QLabel* name_;
  QWidget* fill_;  // bar and the line under it; hidden while the tier is not used
  TierBar* bar_;
  QLabel* amount_;
  QLabel* content_;
  FigureGrid* figures_;
  Chip* health_;
  QLabel* health_text_;
};

}  // namespace larder::gui
