// SPDX-License-Identifier: GPL-3.0-or-later
// LocalStream: the answer of an engine in this process, drained on the GUI thread when the writer wakes it.
// Owns:    a share of the token stream; destroying it cancels an unfinished answer.    Threads: GUI thread.
#pragma once

#include <memory>

#include "gui/bridge/answer_stream.h"
#include "runtime/engine/token_stream.h"

namespace larder::gui {

class Mailbox;

class LocalStream final : public AnswerStream {
  Q_OBJECT

 public:
  LocalStream(std::shared_ptr<engine::TokenStream> stream, const std::shared_ptr<Mailbox>& mailbox, QObject* parent);
  ~LocalStream() override;
  void cancel() override;

 private:
  void drain();
  void take(const engine::StreamEvent& event, QString& text);

  std::shared_ptr<engine::TokenStream> stream_;
  AnswerEnd end_;
  bool ended_ = false;
};

}  // namespace larder::gui
