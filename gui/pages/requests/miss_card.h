// SPDX-License-Identifier: GPL-3.0-or-later
// MissCard: why one request reused what it did: chip, sentence with its cost, the prompt as a strip, the tokens around
// the first difference or the moments of an eviction, and the figures.
// Threads: GUI thread.
#pragma once

#include <QVector>

#include "gui/bridge/view.h"
#include "gui/widgets/card.h"

class QGridLayout;
class QLabel;
class QPushButton;

namespace larder::gui {

class Chip;
class EvictionLine;
class PromptStrip;
class TokenRows;

class MissCard final : public Card {
  Q_OBJECT

 public:
  explicit MissCard(const Theme& theme, QWidget* parent = nullptr);
  void showRequest(const SnapshotView& view, const RequestRecord& record);

 Q_SIGNALS:
  void treeWanted(quint64 node);
  void copyWanted(const QString& report);

 private:
  void showStrip(const RequestRecord& record);
  void showTokens(const RequestRecord& record);
  void showEviction(const SnapshotView& view, const RequestRecord& record);
  void showFacts(const SnapshotView& view, const RequestRecord& record);
  void findNode(const SnapshotView& view, const RequestRecord& record);
  void restyle();

  const Theme& theme_;
  Chip* chip_;
  QLabel* sentence_;
  QLabel* restored_;
  PromptStrip* strip_;
  QLabel* position_;
  TokenRows* tokens_;
  QLabel* tokens_note_;
  EvictionLine* moments_;
  QGridLayout* facts_;
  QVector<QLabel*> fact_names_, fact_values_;
  QPushButton* tree_;
  QPushButton* copy_;
  quint64 node_ = 0;
  QString report_;
};

}  // namespace larder::gui
