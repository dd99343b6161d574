// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/bridge/error_words.h"

#include <QCoreApplication>
#include <algorithm>
#include <utility>

namespace larder::gui {
namespace {

constexpr std::pair<const char*, const char*> kSentences[] = {
    {"invalid_argument", QT_TRANSLATE_NOOP("EngineError", "The engine does not take this value.")},
    {"not_found", QT_TRANSLATE_NOOP("EngineError", "The engine does not find it.")},
    {"unsupported", QT_TRANSLATE_NOOP("EngineError", "The engine cannot do this.")},
    {"unavailable", QT_TRANSLATE_NOOP("EngineError", "The engine cannot do this now.")},
    {"resource_exhausted", QT_TRANSLATE_NOOP("EngineError", "There is no room for it now.")},
    {"quota_exceeded", QT_TRANSLATE_NOOP("EngineError", "The limit of the tenant is reached.")},
    {"cancelled", QT_TRANSLATE_NOOP("EngineError", "It was cancelled.")},
    {"deadline_exceeded", QT_TRANSLATE_NOOP("EngineError", "It took longer than it may.")},
    {"corrupt", QT_TRANSLATE_NOOP("EngineError", "The data is damaged or is something else.")},
    {"io", QT_TRANSLATE_NOOP("EngineError", "A file cannot be read or written.")},
    {"device", QT_TRANSLATE_NOOP("EngineError", "The device that computes failed.")},
    {"conflict", QT_TRANSLATE_NOOP("EngineError", "Something else stands in the way.")},
    {"unauthorized", QT_TRANSLATE_NOOP("EngineError", "The engine does not know this key.")},
    {"forbidden", QT_TRANSLATE_NOOP("EngineError", "This key has no right to do it.")},
    {"internal", QT_TRANSLATE_NOOP("EngineError", "Larder itself made a mistake.")},
};

}  // namespace

QString errorSentence(const QString& code) {
  const auto found = std::find_if(std::begin(kSentences), std::end(kSentences),
                                  [&](const auto& one) { return code == QLatin1String(one.first); });
  return found == std::end(kSentences) ? QString() : QCoreApplication::translate("EngineError", found->second);
}

QString errorText(const QString& code, const QString& detail) {
  const QString sentence = errorSentence(code);
  if (sentence.isEmpty() || detail.isEmpty()) return sentence + detail;
  return sentence + QLatin1Char('\n') + detail;
}

QString errorText(const QString& coded) {
  const qsizetype colon = coded.indexOf(QLatin1String(": "));
  const QString code = coded.left(std::max<qsizetype>(colon, 0));
  return errorSentence(code).isEmpty() ? coded : errorText(code, coded.mid(colon + 2));
}

}  // namespace larder::gui
