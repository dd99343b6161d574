// SPDX-License-Identifier: GPL-3.0-or-later
// Label: a word with its glyph and mood, and the colours of a mood. A mood never shows without both.
// Threads: GUI thread (translation).
#pragma once

#include <QString>

#include "gui/theme/theme.h"

namespace larder::gui {

enum class Mood : std::uint8_t { kOk, kNeutral, kWarning, kError };

struct Label {
  QString text;
  QString icon;
  Mood mood = Mood::kNeutral;
};

struct MoodColors {
  QColor ink, ground;
};
MoodColors moodColors(const Theme& theme, Mood mood);

QString tierLabel(Tier tier);

}  // namespace larder::gui
