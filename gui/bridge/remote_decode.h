// SPDX-License-Identifier: GPL-3.0-or-later
// Decoding of the control API's JSON (runtime/http/API.md) into views: untrusted bytes in, values out. Member names are
// those of runtime/engine/snapshot.h; unknown members are ignored; missing ones and unknown words keep their
// default.
// Errors:  nothing where it is not the JSON of a snapshot, or over the bounds here and in gui/bridge/view.h; of more
//          requests than are kept the newest are read.
// Threads: pure, any.
#pragma once

#include <QByteArray>
#include <optional>

#include "gui/bridge/command.h"
#include "gui/bridge/convert.h"

namespace larder::gui {

inline constexpr qsizetype kMaxAnswerBytes = 64 << 20;
inline constexpr qsizetype kMaxListRows = 100'000;  // of any list but the tree and the requests

std::optional<ViewDelta> decodeSnapshot(const QByteArray& json);
// The answer of a verb, or OpenAI's error shape when http_status is not 2xx.
CommandOutcome decodeOutcome(const QByteArray& json, int http_status);

// Path below /larder/v1, method and body of a command; an empty path: not offered to an attached window.
struct RemoteCall {
  QString path;
  QByteArray method, body;
};
RemoteCall encodeCommand(const Command& command);

}  // namespace larder::gui
