// SPDX-License-Identifier: GPL-3.0-or-later
// ErrorWords: what went wrong, as the window says it: one sentence per error code in its language, and the engine's own
// words below it, which name the value and what to do.
// Threads: any (translation).
#pragma once

#include <QString>

namespace larder::gui {

// By the code's stable name ("not_found"). Empty: a code that is not ours.
QString errorSentence(const QString& code);
// Sentence and detail on two lines; what is empty is left out.
QString errorText(const QString& code, const QString& detail);
// The same of "code: detail", as records and models hold it; another text is answered as it is.
QString errorText(const QString& coded);

}  // namespace larder::gui
