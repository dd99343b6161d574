// SPDX-License-Identifier: GPL-3.0-or-later
// ScriptedClient: an EngineClient without an engine: it publishes the views it is given and keeps the commands it gets.
// sampleView() is one literal snapshot of a household; its parts add up.
// Threads: GUI thread.
#pragma once

#include <QPointer>
#include <vector>

#include "gui/bridge/answer_stream.h"
#include "gui/bridge/engine_client.h"
#include "gui/bridge/tree_rows.h"

namespace larder::gui {

// A stream that says what the test makes it say.
class ScriptedStream final : public AnswerStream {
  Q_OBJECT

 public:
  using AnswerStream::AnswerStream;
  void cancel() override { ++cancels; }
  void start(const AnswerStart& start) { Q_EMIT started(start); }
  void write(const QString& piece) { Q_EMIT text(piece); }
  void finish(const AnswerEnd& end) { Q_EMIT finished(end); }
  void fail(const QString& message) { Q_EMIT failed(message); }
  int cancels = 0;
};

class ScriptedClient final : public EngineClient {
  Q_OBJECT

 public:
  void show(const SnapshotPtr& view) { publish(view); }
  void link(LinkState state, const QString& reason = QString()) { setLink(state, reason); }
  void api(const QString& url, const QString& error) { setApi(url, error); }
  void beAttached() { attached_ = true; }

  bool attached() const override { return attached_; }
  QString place() const override { return QStringLiteral("casa (this computer)"); }
  void perform(Command command, QObject* context, Done done) override;
  AnswerStream* ask(Ask ask, QObject* owner) override;
  void fetchSettings(QObject*, Settings done) override { done(settings); }
  void countTokens(Ask, QObject*, Count done) override { done(0, QString()); }
  void retryNow() override { ++retries; }

  std::vector<Command> commands;  // in the order they came
  std::vector<Ask> asks;
  QVector<SettingRow> settings;
  QPointer<ScriptedStream> stream;  // of the last ask, while `answering`
  bool answering = false;           // false: every ask is refused
  CommandOutcome next;  // answers every command
  int rate = -1;
  int retries = 0;

 protected:
  void applyRate(int per_second) override { rate = per_second; }

 private:
  bool attached_ = false;
};

// Brings the bytes of the pool up to its blocks; the first model has all of it.
void sumPool(SnapshotView& view);

// Three tenants, one model, a tree of `runs` runs, `requests` requests, half an hour of intervals.
std::shared_ptr<SnapshotView> sampleView(int runs = 60, int requests = 40);
QVector<TreeNode> sampleNodes(int runs);

}  // namespace larder::gui
