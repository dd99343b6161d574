// SPDX-License-Identifier: GPL-3.0-or-later
// SettingRules: what may be entered for a setting and how its row reads; the engine checks again when it is saved.
// Errors: a sentence for people.    Threads: GUI thread (translation).
#pragma once

#include <QString>

#include "gui/bridge/command.h"

namespace larder::gui {

struct CheckedEntry {
  QString value;  // as the engine takes it
  QString error;  // empty: legal
};
// Whole numbers may be grouped as the language groups them, and bytes may bear KiB, MiB, GiB.
CheckedEntry checkEntry(const SettingRow& row, const QString& text);

// "default 512 · from 32 to 2,048 tokens · after a restart"
QString rangeText(const SettingRow& row);
QString shownValue(const SettingRow& row, const QString& value);  // numbers grouped, choices in words
QString groupOf(const SettingRow& row);                           // "engine"
QString groupTitle(const QString& group);                         // "Engine"
bool settingMatches(const SettingRow& row, const QString& search);

}  // namespace larder::gui
