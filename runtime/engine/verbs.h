// SPDX-License-Identifier: Apache-2.0
// Verbs: what an admin does, the same from window, API and larderctl. Every verb goes through Engine::perform and the
// engine's inbox. An unknown target is kNotFound; a verb that needs the admin right without it is kForbidden.
// Threads: values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "runtime/base/ids.h"
#include "runtime/engine/placements.h"
#include "runtime/engine/snapshot.h"
#include "runtime/kv/block_range.h"

namespace larder::engine {

struct PinNode {
  NodeId node{};  // pins every block from the root to it
  std::string reason;
  std::int64_t ttl_ms = 0;  // 0: until unpinned
  bool dry_run = false;
};
struct Unpin {
  PinId pin{};
  NodeId node{};  // used when pin is 0: every pin that ends at it
};
struct DeleteNode {
  NodeId node{};  // the run and all below; refused while in use unless `when_idle`
  bool when_idle = false;
  bool dry_run = false;
};
struct Locate {
  NodeId node{};
  bool below = false;             // the node's run and all below it; else the path from the root to it
  std::uint32_t first_block = 0;  // of a path, as kv::BlockRange
  std::uint32_t block_count = 0;
};
// Verbs over tiers: each is a job, answered at once with its record.
struct MoveBlocks {
  kv::BlockRange what;
  std::string to;     // "disk", "pool", or the pool's own tier: "host", "device"
  bool keep = false;  // where they are too: a copy
  bool dry_run = false;
};
struct VerifyBlocks {
  kv::BlockRange what;
  bool dry_run = false;
};
struct CompressBlocks {
  kv::BlockRange what;
  std::string scheme;  // "int8", "int4"
  bool dry_run = false;
};
struct DecompressBlocks {  // computed again: what a codec lost does not come back
  kv::BlockRange what;
  bool dry_run = false;
};
struct CancelJob {
  JobId job{};
};
struct LoadModel {
  std::string path;  // an absolute path, or a file name in the models folder
};
struct UnloadModel {
  ModelId model{};
};
struct CreateTenant {
  std::string name;  // 1..64 of [A-Za-z0-9 _.-], unique
  std::uint64_t quota_bytes = 0;
};
struct SetTenant {
  TenantId tenant{};
  bool foreign = false;  // may reuse KV that another arithmetic of the same model computed
};
struct DeleteTenant {
  TenantId tenant{};
};
struct CreateKey {
  TenantId tenant{};
  std::string label;
  bool admin = false;
  bool this_process_only = false;  // kept in memory, gone at exit
};
struct RevokeKey {
  KeyId key{};
};
struct WarmPack {
  std::string pack;
  bool pin = false;
};
struct CancelRequest {
  RequestId request{};
};
struct SetSetting {
  std::string key;
  std::string value;
};

using Verb = std::variant<PinNode, Unpin, DeleteNode, Locate, LoadModel, UnloadModel, CreateTenant, SetTenant,
                          DeleteTenant, CreateKey, RevokeKey, WarmPack, CancelRequest, SetSetting, MoveBlocks,
                          VerifyBlocks, CompressBlocks, DecompressBlocks, CancelJob>;

// What a verb answers; members that do not apply stay empty.
struct VerbResult {
  PinId pin{};
  TenantId tenant{};
  KeyId key{};
  std::string secret;  // CreateKey: the whole key, shown once
  std::uint64_t blocks = 0;
  std::uint64_t bytes = 0;
  std::uint32_t tokens = 0;
  std::string detail;               // the arithmetic of a refusal or a dry run, for people
  std::vector<TreeNode> placement;  // Locate: the path from the root, one per run
  std::vector<BlockPlacement> ranges;  // Locate: where each block lies
  std::string identity;                // Locate: digest of what decides their bits, hex; empty until it is known
  std::optional<JobInfo> job;          // verbs over tiers; id 0 for a dry run
  bool restart_needed = false;      // SetSetting
};

}  // namespace larder::engine
