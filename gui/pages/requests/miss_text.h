// SPDX-License-Identifier: GPL-3.0-or-later
// MissText: why a request reused what it did and no more, in one plain sentence with its cost, and the figures behind
// it. Pure, so that each sentence can be tested.
// Units:   positions are shown from 1; ms at the measured rate.    Threads: GUI thread (translation).
#pragma once

#include <QString>
#include <QVector>

#include "gui/bridge/view.h"

namespace larder::gui {

struct Fact {
  QString name, value;
};

// False while the request has not been looked up: there is nothing to say about reuse yet.
bool hasVerdict(const RequestRecord& record);
QString missSentence(const SnapshotView& view, const RequestRecord& record);
// "Restored 1,984 tokens from disk in 31 ms; computing them would take 1.9 s." and why what lay in a lower tier was
// computed instead; empty: nothing lay there.
QString restoreText(const Verdict& verdict);
// "First difference: token 2,412 of 4,078 · block 76, token 12 of 32 · section Entities"; empty: nothing differs.
QString positionText(const SnapshotView& view, const RequestRecord& record);
QVector<Fact> missFacts(const SnapshotView& view, const RequestRecord& record);
// The evidence without any prompt text: labels, positions, ids, figures. For a bug report.
QString reportWithoutText(const SnapshotView& view, const RequestRecord& record);

// Where the two runs of a divergence differ first; -1: nowhere.
int differingPlace(const Divergence& divergence);
// "coder #5098", "another request".
QString evictorText(const SnapshotView& view, const Eviction& eviction);

}  // namespace larder::gui
