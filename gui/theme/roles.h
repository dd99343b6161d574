// SPDX-License-Identifier: GPL-3.0-or-later
// Roles that models give beside Qt's own and that RowDelegate draws by.
#pragma once

#include <Qt>

namespace larder::gui {

enum RowRole : int {
  kIdRole = Qt::UserRole + 1,  // the id as qulonglong or QString
  kSortRole,                   // what a column sorts by
  kMoodRole,                   // int of Mood, where a cell is a chip
  kIconRole,                   // name of a line icon
  kMarkRole,                   // index of a tenant's shape
  kShareRole,                  // 0..1, where a cell is a bar
  kTierRole,                   // int of Tier
};

}  // namespace larder::gui
