// SPDX-License-Identifier: GPL-3.0-or-later
// Command: a verb as pages ask for it, in Qt values; the meaning of each stands in runtime/engine/verbs.h.
// Threads: values.
#pragma once

#include <QString>
#include <QVector>
#include <cstdint>
#include <variant>

#include "gui/bridge/tree_rows.h"
#include "gui/bridge/view.h"

namespace larder::gui {

namespace command {

struct PinNode {
  NodeId node{};
  QString reason;
  std::int64_t ttl_ms = 0;
  bool dry_run = false;
};
struct Unpin {
  PinId pin{};
  NodeId node{};
};
struct DeleteNode {
  NodeId node{};
  bool when_idle = false;
  bool dry_run = false;
};
struct Locate {
  NodeId node{};
};
struct LoadModel {
  QString path;
};
struct UnloadModel {
  ModelId model{};
};
struct CreateTenant {
  QString name;
  std::uint64_t quota_bytes = 0;
};
struct SetTenant {
  TenantId tenant{};
  bool foreign = false;
};
struct DeleteTenant {
  TenantId tenant{};
};
struct CreateKey {
  TenantId tenant{};
  QString label;
  bool admin = false;
};
struct RevokeKey {
  KeyId key{};
};
struct WarmPack {
  QString pack;
  bool pin = false;
};
struct CancelRequest {
  RequestId request{};
};
struct SetSetting {
  QString key, value;
};
struct MoveBlocks {  // the run and all below it
  NodeId node{};
  QString to;  // "disk", "pool"
  bool keep = false;
  bool dry_run = false;
};
struct VerifyBlocks {
  NodeId node{};
  bool dry_run = false;
};
struct CompressBlocks {
  NodeId node{};
  QString scheme;  // "int8", "int4"
  bool dry_run = false;
};
struct DecompressBlocks {
  NodeId node{};
  bool dry_run = false;
};
struct CancelJob {
  JobId job{};
};

}  // namespace command

using Command = std::variant<command::PinNode, command::Unpin, command::DeleteNode, command::Locate,
                             command::LoadModel, command::UnloadModel, command::CreateTenant, command::SetTenant,
                             command::DeleteTenant, command::CreateKey, command::RevokeKey, command::WarmPack,
                             command::CancelRequest, command::SetSetting, command::MoveBlocks, command::VerifyBlocks,
                             command::CompressBlocks, command::DecompressBlocks, command::CancelJob>;

// What came of it. `message` is the refusal, for people (error_words.h); `secret` is shown once and kept nowhere.
struct CommandOutcome {
  bool ok = false;
  QString code;  // "not_found", …; empty when ok
  QString message;
  PinId pin{};
  TenantId tenant{};
  KeyId key{};
  QString secret;
  std::uint64_t blocks = 0, bytes = 0;
  std::uint32_t tokens = 0;
  QString detail;
  QVector<TreeNode> placement;
  std::optional<JobInfo> job;  // of a verb over tiers
  bool restart_needed = false;
};

// A prompt from the window itself (Chat, screenshots).
struct AskMessage {
  QString role, content;
};
struct Ask {
  QVector<AskMessage> messages;  // empty: `text` is sent as it is, without a chat template
  QString text;
  QString label;
  std::uint32_t max_tokens = 0;
  double temperature = 0;
  double top_p = 1;
  std::uint64_t seed = 0;
  bool bypass_cache = false;
};

// One row of the settings table (runtime/settings/settings.h), for the Settings page.
struct SettingRow {
  enum class Type : std::uint8_t { kInteger, kFlag, kText, kChoice };
  QString name;  // "engine.max_tokens"
  Type type = Type::kText;
  QString value, default_value, unit, help;
  std::int64_t minimum = 0, maximum = 0;  // kInteger: inclusive; kText: length in bytes
  QVector<QString> choices;               // kChoice
  bool needs_restart = false;
  bool overridden = false;       // by --set
  bool restart_pending = false;  // changed since the start and read only there
  bool operator==(const SettingRow&) const = default;
};

}  // namespace larder::gui
