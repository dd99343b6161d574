// SPDX-License-Identifier: GPL-3.0-or-later
// ConnectCard: the command with which another program reaches this engine, ready to copy. The key is never in it.
// Threads: GUI thread.
#pragma once

#include "gui/widgets/card.h"

class QLabel;

namespace larder::gui {

class EngineClient;

class ConnectCard final : public Card {
  Q_OBJECT

 public:
  ConnectCard(const Theme& theme, EngineClient& client, QWidget* parent = nullptr);
  void refill();

 Q_SIGNALS:
  void copied();
  void keyWanted();

 private:
  QString commandText() const;

  const Theme& theme_;
  EngineClient& client_;
  QLabel* command_;
  QLabel* note_;
};

}  // namespace larder::gui
