// SPDX-License-Identifier: GPL-3.0-or-later
// Conversation: the turns of one chat and the answer that is on its way. Every turn sends all turns before it again,
// so that what the engine reuses can be seen.
// Ensures:  at most one answer at a time; a stopped or failed answer keeps what had come. A failed turn without any
//           answer is not sent again.
// Owns:     the running stream.    Threads: GUI thread.
#pragma once

#include <QObject>
#include <QString>
#include <QVector>
#include <optional>

#include "gui/bridge/answer_stream.h"
#include "gui/bridge/engine_client.h"

namespace larder::gui {

struct Turn {
  enum class State : std::uint8_t { kWaiting, kWriting, kDone, kStopped, kFailed };
  QString question, answer, error;
  State state = State::kWaiting;
  std::optional<AnswerStart> start;
  std::optional<AnswerEnd> end;
};

struct AskOptions {
  QString system;        // empty: none
  bool template_ = true; // false: the model has no chat template, the text is continued
  std::uint32_t max_tokens = 256;
  double temperature = 0;
  bool bypass_cache = false;
};

class Conversation final : public QObject {
  Q_OBJECT

 public:
  Conversation(EngineClient& client, QObject* parent);

  void ask(const QString& question, const AskOptions& options);
  void stop();
  void clear();
  bool busy() const { return stream_ != nullptr; }
  const QVector<Turn>& turns() const { return turns_; }

 Q_SIGNALS:
  void turnAdded();
  void turnChanged();  // the last one
  void cleared();

 private:
  Ask askOf(const AskOptions& options) const;
  void end(Turn::State state);

  EngineClient& client_;
  QVector<Turn> turns_;
  AnswerStream* stream_ = nullptr;
};

}  // namespace larder::gui
