// SPDX-License-Identifier: GPL-3.0-or-later
// JobWords: verbs over tiers in the window's language: what one is called, and its arithmetic, before and after.
// Threads: GUI thread (translation).
#pragma once

#include <QString>
#include <QVector>
#include <utility>

#include "gui/bridge/job_info.h"

namespace larder::gui {

// "Move to disk", "Copy to memory", "Verify", "Compress to int8", "Compute exactly again".
QString jobVerb(const JobInfo& job);
// "waits", "42 %", "done", "failed", "cancelled".
QString jobState(const JobInfo& job);
// "Written to disk", "10 blocks · 200 KiB": what is not 0. The same words for what would be done and what was.
QVector<std::pair<QString, QString>> jobFacts(const JobInfo& job, std::uint64_t block_bytes);
// Whether it would do, or did, anything.
bool doesSomething(const JobInfo& job);

}  // namespace larder::gui
