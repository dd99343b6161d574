// SPDX-License-Identifier: GPL-3.0-or-later
// Words: short labels for the engine's fields, with the tone and icon that go with them, in the language of the window.
// What it is not: it decides nothing; one field, one word.
// Threads: GUI thread (translation).
#pragma once

#include <QString>

#include "gui/bridge/view.h"
#include "gui/theme/label.h"
#include "gui/theme/theme.h"

namespace larder::gui {

QString tenantName(const SnapshotView& view, TenantId id);  // unknown: no data
Label verdictLabel(VerdictKind kind);
Label stateLabel(RequestRecord::State state);
Label modelStateLabel(ModelInfo::State state);
QString sectionLabel(const Section& section);  // "user message 3" in the window's language
// Cause of a request that reused less than it could, in one sentence with its figures; for the list of misses.
QString causeSentence(const SnapshotView& view, const RequestRecord& record);
// What would have been saved: tokens that were computed though they stood before the last message, at the measured
// rate.
double lostMs(const RequestRecord& record);

// The tier the pool lies in: host where the processor computes, else device.
Tier poolTier(const SnapshotView& view);

}  // namespace larder::gui
