// SPDX-License-Identifier: GPL-3.0-or-later
// SettingWords: the texts of the settings table in the language of the window. The table (runtime/settings/table.cc)
// knows no Qt, so its sentences stand here a second time, where lupdate finds them; gui_settings_test holds the two
// together.
// Threads: GUI thread (translation).
#pragma once

#include <QString>
#include <span>

#include "gui/bridge/command.h"

namespace larder::gui {

// English, as in the sources.
struct SettingWord {
  const char* name;  // "engine.max_tokens"
  const char* title;
  const char* help;  // the table's sentence, to the letter
};
std::span<const SettingWord> settingWords();

QString settingTitle(const SettingRow& row);  // unknown here (another version's): its name
QString settingHelp(const SettingRow& row);
QString settingUnit(const SettingRow& row);
QString settingChoice(const QString& value);  // names of things (avx2, f16) stay as they are

}  // namespace larder::gui
