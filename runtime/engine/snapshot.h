// SPDX-License-Identifier: Apache-2.0
// Snapshot: an immutable picture of the engine, copied by the engine thread between steps, at most 10 times a second
// and only when asked. Numbers with units; no sentences. Every total can be recounted from its parts (tests do). Delta:
// `since` an older epoch, requests and events hold only what is newer; tree is absent when unchanged. Threads:
// shared_ptr<const Snapshot>, any thread.    Bounds: stated per member.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/base/clock.h"
#include "runtime/base/event.h"
#include "runtime/base/ids.h"
#include "runtime/base/section.h"
#include "runtime/engine/job_info.h"
#include "runtime/engine/store_info.h"
#include "runtime/engine/token_stream.h"
#include "runtime/kv/verdict.h"

namespace larder::engine {

// One drawn box of the prefix tree: a run of blocks of one owner. Parents come before children.
struct TreeNode {
  NodeId id{};               // id of the run's last block
  NodeId parent{};           // 0: root of its scope
  std::uint32_t tenant = 0;  // owner
  std::uint32_t model = 0;
  std::uint32_t first_position = 0;
  std::uint32_t tokens = 0;  // of this run
  std::uint32_t blocks = 0;
  std::uint64_t bytes = 0;
  std::uint32_t device_blocks = 0;
  std::uint32_t host_blocks = 0;
  std::uint32_t disk_blocks = 0;    // on disk only
  std::uint32_t stored_blocks = 0;  // with a durable copy on disk
  std::uint32_t ram_blocks = 0;     // of disk_blocks: with a copy in memory, as it lies on disk
  std::uint64_t ram_bytes = 0;      // of those copies
  bool pinned = false;
  bool in_use = false;   // a running sequence reads or writes it
  bool growing = false;  // its tail has a writer
  std::uint64_t hits = 0;
  WallTime created = 0;
  WallTime last_hit = 0;
  double compute_ms = 0;  // cost to compute this run again at the measured rate
  RequestId made_by{};
  std::string label;              // entry's name where one ends here, else the section's label
  std::string lineage = "exact";  // or the form to which its tokens were rounded: "int8", "int4"; or "foreign"
};

// At most engine.request_history records, newest last.
struct RequestRecord {
  enum class State : std::uint8_t { kPreparing, kQueued, kPrefill, kDecode, kDone, kFailed, kCancelled };
  RequestId id{};
  State state = State::kQueued;
  std::uint64_t epoch = 0;  // last change
  std::uint32_t tenant = 0;
  std::uint32_t model = 0;
  WallTime submitted = 0;
  Usage usage;
  Timings timings;
  kv::Verdict verdict;
  std::vector<Section> sections;
  std::string error;          // failed: to_string of it, without prompt text
  std::string diverged_here;  // texts of the divergence runs; empty unless the reader may see them
  std::string diverged_cached;
  std::vector<std::string> here_tokens;  // the same runs token by token
  std::vector<std::string> cached_tokens;
};

struct TenantInfo {
  TenantId id{};
  std::string name;
  std::uint64_t blocks = 0;
  std::uint64_t bytes = 0;
  std::uint64_t pinned_bytes = 0;
  std::uint64_t quota_bytes = 0;  // 0: none
  bool foreign = false;           // may reuse KV that another arithmetic of the same model computed
  std::uint64_t requests = 0;
  std::uint64_t prompt_tokens = 0;
  std::uint64_t cached_tokens = 0;
  std::uint32_t running = 0;
  std::uint32_t queued = 0;
};

struct KeyInfo {
  KeyId id{};
  TenantId tenant{};
  std::string prefix;  // the shown part of the key
  std::string label;
  bool admin = false;
  WallTime created = 0;
  WallTime last_used = 0;
};

struct PinInfo {
  PinId id{};
  NodeId node{};
  TenantId tenant{};
  std::string reason;
  std::uint32_t blocks = 0;
  std::uint64_t bytes = 0;
  WallTime created = 0;
  WallTime expires = 0;  // 0: never
};

// Of one model, or of all: then sums, and block_bytes is of the model loaded last; the bytes hold where sizes differ.
struct PoolInfo {
  std::uint32_t blocks_total = 0;
  std::uint32_t blocks_free = 0;
  std::uint32_t blocks_cached = 0;  // in the tree, nobody runs on them
  std::uint32_t blocks_in_use = 0;  // a running sequence holds them
  std::uint32_t blocks_pinned = 0;
  std::uint64_t block_bytes = 0;
  std::uint64_t pin_budget_bytes = 0;
  std::uint64_t evicted_blocks = 0;  // since start
  std::uint64_t tree_nodes = 0;
  std::uint64_t bytes_total = 0;   // of blocks_total, and so on
  std::uint64_t bytes_taken = 0;   // of those that are not free
  std::uint64_t bytes_pinned = 0;
  std::uint64_t budget_bytes = 0;  // that all models together may have
};

struct ModelInfo {
  enum class State : std::uint8_t { kFile, kLoading, kReady, kUnloading, kFailed };
  // Of a model that answers: is its digest being computed, known, or not to be had? Its KV leaves memory when known.
  enum class Identity : std::uint8_t { kPending, kKnown, kFailed };
  ModelId id{};
  State state = State::kFile;
  std::string name;
  std::string path;
  std::string architecture;
  std::string quantisation;  // the commonest weight type
  std::uint64_t file_bytes = 0;
  std::uint64_t weight_bytes = 0;
  std::uint64_t kv_bytes_per_token = 0;
  std::uint32_t n_context = 0;
  std::uint32_t max_request_tokens = 0;
  double progress = 0;  // 0..1 while loading
  std::string arithmetic_id;
  std::string device;
  Identity identity = Identity::kPending;
  double digest_progress = 0;  // 0..1 while pending
  std::string digest;          // hex, empty until known
  std::string digest_error;    // kFailed: why there is none; load the model again for another try
  std::string error;           // of a refused file: to_string of it; else why it has no chat
  bool has_chat_template = false;
  PoolInfo pool;  // of a model that is loaded
};

// One past interval; at most 720, oldest first, 5 s each.
struct Interval {
  WallTime begin = 0;
  std::uint32_t requests = 0;
  std::uint32_t full_prefix = 0;
  std::uint64_t prompt_tokens = 0;
  std::uint64_t cached_tokens = 0;
  std::uint64_t completion_tokens = 0;
  std::uint64_t evicted_blocks = 0;
  std::uint32_t blocks_used = 0;  // at its end
  std::uint32_t blocks_pinned = 0;
  double saved_ms = 0;
  double warm_p50_ms = -1, warm_p99_ms = -1;  // -1: no request
  double cold_p50_ms = -1, cold_p99_ms = -1;
};

struct EntryInfo {
  EntryId id{};
  NodeId node{};
  TenantId tenant{};
  std::string name;
  std::uint32_t tokens = 0;
  std::uint64_t bytes = 0;
  bool pinned = false;
  std::uint64_t hits = 0;
  double saved_ms = 0;
};

struct PackInfo {
  std::string id;  // "casa-it"
  std::string name;
  std::string language;  // "it", "en"
  std::string text;
  std::uint32_t version = 1;
  std::uint32_t tokens = 0;  // with the loaded model's template; 0: not counted
  bool warm = false;
  bool pinned = false;
  NodeId node{};
};

struct Snapshot {
  std::uint64_t epoch = 0;
  std::uint64_t since = 0;
  WallTime at = 0;
  WallTime started = 0;
  std::string version;
  std::string device;  // processor and tier
  PoolInfo pool;
  StoreInfo store;
  std::vector<ModelInfo> models;
  std::vector<TenantInfo> tenants;
  std::vector<KeyInfo> keys;  // only for an admin
  std::vector<PinInfo> pins;
  std::vector<EntryInfo> entries;
  std::vector<PackInfo> packs;
  std::vector<JobInfo> jobs;
  std::shared_ptr<const std::vector<TreeNode>> tree;  // null: unchanged since `since`
  std::vector<RequestRecord> requests;
  std::vector<Interval> history;
  std::uint32_t running = 0;
  std::uint32_t queued = 0;
  double decode_tokens_per_s = 0;   // over the last 5 s
  double prefill_tokens_per_s = 0;  // measured, exponential mean
  std::uint64_t dropped_events = 0;
  std::uint64_t broken_promises = 0;  // of a job that brought blocks up: the next request reused under half of them
  std::string last_broken_promise;    // and why
  std::uint64_t resident_bytes = 0;  // of the process
};

}  // namespace larder::engine
