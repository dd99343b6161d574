// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/bridge/answer_stream.h"

#include <utility>

namespace larder::gui {

RefusedStream::RefusedStream(QString message, QObject* parent) : AnswerStream(parent), message_(std::move(message)) {
  QMetaObject::invokeMethod(
      this, [this] { Q_EMIT failed(message_); }, Qt::QueuedConnection);
}

}  // namespace larder::gui
