// SPDX-License-Identifier: GPL-3.0-or-later
// PictureRun: takes a picture of every page of a live run: waits for the model, sends a few requests that share their
// start, pins a run, then opens the pages one after the other in light, and Overview and Prefix tree also in dark.
// Attached, it asks and pins nothing: it shows what is there.
// Ensures:  ends within kDeadlineMs, with what is there; failed() says what was missing.    Threads: GUI thread.
#pragma once

#include <QObject>
#include <QString>
#include <QTimer>
#include <QVector>

#include "gui/bridge/command.h"

namespace larder::gui {

class EngineClient;
class MainWindow;
class Theme;

class PictureRun final : public QObject {
  Q_OBJECT

 public:
  static constexpr int kDeadlineMs = 40'000;

  PictureRun(MainWindow& window, EngineClient& client, Theme& theme, QString folder);
  void start();

 Q_SIGNALS:
  void finished(int pictures);
  void failed(const QString& why);

 private:
  void whenReady();
  void whenAttached();
  void askNext();
  void pinFirst();
  void take();
  void shoot(const QString& name);
  QVector<Ask> prompts() const;

  MainWindow& window_;
  EngineClient& client_;
  Theme& theme_;
  QString folder_;
  QVector<Ask> asks_;
  QTimer deadline_;
  int next_ask_ = 0;
  int pictures_ = 0;
  bool asking_ = false;
  bool taking_ = false;
};

}  // namespace larder::gui
