// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/pages/chat/conversation.h"

namespace larder::gui {

Conversation::Conversation(EngineClient& client, QObject* parent) : QObject(parent), client_(client) {}

Ask Conversation::askOf(const AskOptions& options) const {
  Ask ask;
  ask.label = tr("Chat");
  ask.max_tokens = options.max_tokens;
  ask.temperature = options.temperature;
  ask.bypass_cache = options.bypass_cache;
  if (!options.template_) ask.text = options.system;
  if (options.template_ && !options.system.isEmpty()) {
    ask.messages.push_back({QStringLiteral("system"), options.system});
  }
  for (qsizetype i = 0; i < turns_.size(); ++i) {
    const Turn& turn = turns_[i];
    const bool last = i + 1 == turns_.size();
    if (!last && turn.answer.isEmpty()) continue;
    if (!options.template_) {
      ask.text += turn.question + turn.answer;
      continue;
    }
    ask.messages.push_back({QStringLiteral("user"), turn.question});
    if (!last) ask.messages.push_back({QStringLiteral("assistant"), turn.answer});
  }
  return ask;
}

void Conversation::ask(const QString& question, const AskOptions& options) {
  if (busy()) return;
  Turn turn;
  turn.question = question;
  turns_.push_back(turn);
  stream_ = client_.ask(askOf(options), this);
  connect(stream_, &AnswerStream::started, this, [this](const AnswerStart& start) {
    turns_.last().start = start;
    turns_.last().state = Turn::State::kWriting;
    Q_EMIT turnChanged();
  });
  connect(stream_, &AnswerStream::text, this, [this](const QString& piece) {
    turns_.last().answer += piece;
    Q_EMIT turnChanged();
  });
  connect(stream_, &AnswerStream::finished, this, [this](const AnswerEnd& last) {
    turns_.last().end = last;
    end(last.cancelled ? Turn::State::kStopped : Turn::State::kDone);
  });
  connect(stream_, &AnswerStream::failed, this, [this](const QString& message) {
    turns_.last().error = message;
    end(Turn::State::kFailed);
  });
  Q_EMIT turnAdded();
}

void Conversation::end(Turn::State state) {
  turns_.last().state = state;
  if (stream_ != nullptr) stream_->deleteLater();
  stream_ = nullptr;
  Q_EMIT turnChanged();
}

void Conversation::stop() {
  if (stream_ != nullptr) stream_->cancel();
}

void Conversation::clear() {
  delete stream_;  // cancels it
  stream_ = nullptr;
  turns_.clear();
  Q_EMIT cleared();
}

}  // namespace larder::gui
