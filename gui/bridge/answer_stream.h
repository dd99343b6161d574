// SPDX-License-Identifier: GPL-3.0-or-later
// AnswerStream: one answer on its way to a page. Text comes in pieces of whole characters, joined to one signal per
// turn of the event loop. finished or failed comes exactly once and last.
// Owns:    the request: destroying the stream cancels it.    Threads: GUI thread.
#pragma once

#include <QObject>
#include <QString>
#include <QVector>

#include "gui/bridge/view.h"

namespace larder::gui {

struct AnswerStart {
  RequestId request{};
  QString model;
  Verdict verdict;
  QVector<Section> sections;
};

struct AnswerEnd {
  Usage usage;
  Timings timings;
  Verdict verdict;
  bool cancelled = false;
  bool cut_at_limit = false;
};

class AnswerStream : public QObject {
  Q_OBJECT

 public:
  using QObject::QObject;
  virtual void cancel() = 0;

 Q_SIGNALS:
  void started(const larder::gui::AnswerStart& start);
  void text(const QString& piece);
  void finished(const larder::gui::AnswerEnd& end);
  void failed(const QString& message);
};

// A stream whose only event is its refusal.
class RefusedStream final : public AnswerStream {
  Q_OBJECT

 public:
  RefusedStream(QString message, QObject* parent);
  void cancel() override {}

 private:
  QString message_;
};

}  // namespace larder::gui
