// SPDX-License-Identifier: GPL-3.0-or-later
// Closing: what closing the window means while programs are served: keep serving from the tray, or stop. It goes by the
// setting ui.close; while that says "ask" it asks once and keeps the answer there. Without a tray the window can only
// stay or stop; that answer is not kept, since it was no free choice. What it is not: it ends nothing; it says so.
// Requires: window, client, theme and tray outlive it.    Threads: GUI thread.
#pragma once

#include <QObject>
#include <QPointer>

#include "gui/bridge/engine_client.h"

class QDialog;

namespace larder::gui {

class Theme;
class Tray;

// A program has asked since the engine started, or an answer is being computed.
bool servesPrograms(const EngineClient& client);

class Closing final : public QObject {
  Q_OBJECT

 public:
  Closing(QWidget& window, EngineClient& client, const Theme& theme, Tray& tray);
  // The next close ends the program without a question.
  void leaveNow() { leaving_ = true; }

 Q_SIGNALS:
  void left();  // the program may end

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void readRule();
  void decide(const QString& rule);
  void ask();
  void obey(const QString& rule);
  void remember(const QString& rule);
  void openAgain();
  void leave();

  QWidget& window_;
  EngineClient& client_;
  const Theme& theme_;
  Tray& tray_;
  QPointer<QDialog> dialog_;
  bool deciding_ = false;  // the setting is on its way
  bool leaving_ = false;
};

}  // namespace larder::gui
