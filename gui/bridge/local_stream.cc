// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/bridge/local_stream.h"

#include <QPointer>
#include <utility>

#include "gui/bridge/convert.h"
#include "gui/bridge/mailbox.h"

namespace larder::gui {

LocalStream::LocalStream(std::shared_ptr<engine::TokenStream> stream, const std::shared_ptr<Mailbox>& mailbox,
                         QObject* parent)
    : AnswerStream(parent), stream_(std::move(stream)) {
  const QPointer<LocalStream> self(this);
  stream_->set_wake([mailbox, self] {
    mailbox->post([self] {
      if (self) self->drain();
    });
  });
}

LocalStream::~LocalStream() {
  stream_->set_wake({});
  if (!ended_) stream_->cancel();
}

void LocalStream::cancel() {
  if (!ended_) stream_->cancel();
}

void LocalStream::drain() {
  QString piece;
  const QPointer<LocalStream> self(this);  // a receiver may delete us
  while (const auto event = stream_->next(0)) {
    take(*event, piece);
    if (!self) return;
  }
  if (!piece.isEmpty()) Q_EMIT text(piece);
}

void LocalStream::take(const engine::StreamEvent& event, QString& piece) {
  if (const auto* start = std::get_if<engine::Started>(&event)) {
    AnswerStart out{start->request, toQt(start->model), toQt(start->verdict), toQt(start->sections)};
    Q_EMIT started(out);
  } else if (const auto* part = std::get_if<engine::Piece>(&event)) {
    if (part->choice == 0) piece += toQt(part->text);
  } else if (const auto* done = std::get_if<engine::ChoiceDone>(&event)) {
    end_.cancelled = done->reason == engine::FinishReason::kCancelled;
    end_.cut_at_limit = done->reason == engine::FinishReason::kLength;
  } else {
    ended_ = true;
    if (!piece.isEmpty()) Q_EMIT text(std::exchange(piece, QString()));
    if (const auto* finish = std::get_if<engine::Finished>(&event)) {
      end_.usage = toQt(finish->usage);
      end_.timings = toQt(finish->timings);
      end_.verdict = toQt(finish->verdict);
      Q_EMIT finished(end_);
    } else if (const auto* error = std::get_if<Error>(&event)) {
      Q_EMIT failed(errorText(*error));
    }
  }
}

}  // namespace larder::gui
