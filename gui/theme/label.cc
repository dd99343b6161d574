// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/theme/label.h"

#include <QCoreApplication>

namespace larder::gui {
namespace {

struct Words {
  Q_DECLARE_TR_FUNCTIONS(Words)
};

}  // namespace

QString tierLabel(Tier tier) {
  switch (tier) {
    case Tier::kDevice:
      return Words::tr("Device");
    case Tier::kHost:
      return Words::tr("Host");
    case Tier::kDisk:
      return Words::tr("Disk");
    case Tier::kRemote:
      return Words::tr("Remote");
    case Tier::kCount:
      break;
  }
  return {};
}

MoodColors moodColors(const Theme& theme, Mood mood) {
  switch (mood) {
    case Mood::kOk:
      return {theme.color(Tone::kOk), theme.color(Tone::kOkSoft)};
    case Mood::kWarning:
      return {theme.color(Tone::kWarning), theme.color(Tone::kWarningSoft)};
    case Mood::kError:
      return {theme.color(Tone::kError), theme.color(Tone::kErrorSoft)};
    case Mood::kNeutral:
      break;
  }
  return {theme.color(Tone::kTextSecondary), theme.color(Tone::kSurfaceAlt)};
}

}  // namespace larder::gui
