// SPDX-License-Identifier: GPL-3.0-or-later
// Conversions between runtime values and Qt values, and the merging of a delta into the view before it. Nowhere else do
// QString and std::string meet.
// Threads: pure functions, any thread.
#pragma once

#include <QString>
#include <string>

#include "gui/bridge/answer_stream.h"
#include "gui/bridge/command.h"
#include "gui/bridge/view.h"
#include "runtime/base/result.h"
#include "runtime/engine/request.h"
#include "runtime/engine/snapshot.h"
#include "runtime/engine/verbs.h"

namespace larder::gui {

QString toQt(const std::string& text);
QString codeOf(const Error& error);     // "not_found"
QString errorText(const Error& error);  // for people, in the window's language
std::string fromQt(const QString& text);

Verdict toQt(const kv::Verdict& verdict);
QVector<Section> toQt(const std::vector<larder::Section>& sections);
Usage toQt(const engine::Usage& usage);
Timings toQt(const engine::Timings& timings);
RequestRecord toQt(const engine::RequestRecord& record);
TreeNode toQt(const engine::TreeNode& node);

engine::Verb fromQt(const Command& command);
JobInfo toQt(const engine::JobInfo& job);
CommandOutcome toQt(const Result<engine::VerbResult>& result);
engine::Request fromQt(const Ask& ask);

// The small lists and numbers of a snapshot; requests, history and tree are left to mergeViews.
SnapshotView toQt(const engine::Snapshot& snapshot);

// What one answer of the engine brings; a null tree means unchanged.
struct ViewDelta {
  SnapshotView view;
  bool full = false;  // since was 0 or unknown: nothing before it counts
  std::shared_ptr<const TreeRows> tree;
  QVector<RequestPtr> requests;
};
ViewDelta toDelta(const engine::Snapshot& snapshot);
// Ensures: requests by id without doubles, at most kMaxRequests, none of a tenant that is gone.
SnapshotPtr mergeViews(const SnapshotPtr& before, ViewDelta delta);

}  // namespace larder::gui
