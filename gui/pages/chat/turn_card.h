// SPDX-License-Identifier: GPL-3.0-or-later
// TurnCard: one question, its answer as it comes, and what the engine reused for it: n of m tokens, verdict, tier, time
// to first token, rate.
// Threads: GUI thread.
#pragma once

#include "gui/pages/chat/conversation.h"
#include "gui/widgets/card.h"

class QLabel;
class QPushButton;

namespace larder::gui {

class Chip;

class TurnCard final : public Card {
  Q_OBJECT

 public:
  explicit TurnCard(const Theme& theme, QWidget* parent = nullptr);
  void showTurn(const Turn& turn);

 Q_SIGNALS:
  void whyWanted(quint64 request);

 private:
  QString figuresText(const Turn& turn) const;
  QString answerText(const Turn& turn) const;
  void restyle();

  const Theme& theme_;
  QLabel* question_;
  QLabel* answer_;
  QLabel* error_;
  Chip* chip_;
  QLabel* figures_;
  QPushButton* why_;
  quint64 request_ = 0;
};

// "1,180 of 1,204 prompt tokens reused (Host)"; a dash where nothing is known.
QString reuseText(const Verdict& verdict);

}  // namespace larder::gui
