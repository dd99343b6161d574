// SPDX-License-Identifier: GPL-3.0-or-later
// TierFacts: what one tier holds, moves and has lost, in words and figures ready to be shown. Pure, so that each can be
// tested.
// Units:   bytes in the bar; figures carry their own.    Threads: GUI thread (translation).
#pragma once

#include <QString>
#include <QVector>
#include <optional>

#include "gui/bridge/view.h"
#include "gui/theme/label.h"
#include "gui/widgets/figure_grid.h"

namespace larder::gui {

struct TierFacts {
  Tier tier = Tier::kHost;
  QString name;                               // empty: the tier's own
  QString note;                               // what the tier is made of
  double used = 0, capacity = 0, pinned = 0;  // of the bar
  QString amount, content;                    // under its left and its right end
  QVector<CaptionedFigure> figures;
  Label health;         // without text: nothing is checked here
  QString health_text;  // the last failure, or why the tier is not used; may be empty
};

// Nothing where no pool exists: no model holds memory.
std::optional<TierFacts> poolFacts(const SnapshotView& view);
// Copies in memory of what lies on disk; nothing where none may be kept.
std::optional<TierFacts> ramFacts(const SnapshotView& view);
// Nothing where the server knows no disk tier.
std::optional<TierFacts> diskFacts(const SnapshotView& view);

}  // namespace larder::gui
