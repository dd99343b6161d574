// SPDX-License-Identifier: Apache-2.0
// TierWork: one verb over tiers at work, whatever the verb: TierJob moves and proves, CompressJob rounds, DecompressJob
// has rounded runs computed again. What it does between two calls of step is waiting for the store, or for a request.
// Ensures:  each block crosses whole or not at all; nothing that is pinned, in use or growing is taken away.
// Errors:   failure(); what stays, and why, in tally().
// Threads:  engine thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "runtime/engine/block_mover.h"
#include "runtime/engine/cold_tier.h"
#include "runtime/engine/job_info.h"
#include "runtime/kv/block_range.h"
#include "runtime/kv/prefix_cache.h"

namespace larder::engine {

enum class TierVerb : std::uint8_t { kCopy, kMove, kVerify, kCompress, kDecompress };
const char* tier_verb_name(TierVerb verb);

struct TierOrder {
  TierVerb verb = TierVerb::kCopy;
  bool down = true;  // copy and move: to disk; else to the pool
  kv::BlockRange range;
  TenantId by{};  // who asked, for what gives way to it
  kernels::KvScheme scheme = kernels::KvScheme::kExact;  // compress: to which
};

// One more block stays for this reason; kNone and kNoCopy are counted elsewhere.
void count_staying(TierTally& tally, kv::Staying staying);

// Those that can leave all tiers, what hangs on them leaving first, in the order of `nodes` (parents before children);
// why the others stay is counted.
std::vector<NodeId> leaving_of(std::span<const NodeId> nodes, const kv::PrefixCache& cache, TierTally& tally);

class TierWork {
 public:
  enum class Step : std::uint8_t { kMore, kWaits, kDone };

  TierWork(const TierOrder& order, const ScopeId& scope, std::uint64_t blocks)
      : order_(order), scope_(scope), blocks_(blocks) {}
  virtual ~TierWork() = default;

  // A little of it: a block, or a chain begun. kWaits: the store has to answer, or has no room.
  virtual Step step(kv::PrefixCache& cache, ColdTier& cold) = 0;
  // As BlockMover.
  virtual void written(NodeId node, storage::Refusal refusal) = 0;
  virtual void rounded(kv::PrefixCache& cache, const Rounded& what);
  virtual void read(kv::PrefixCache& cache, std::uint64_t tag, storage::Miss miss, std::uint64_t checksum);
  // A run that has to be computed before it can go on, once; then computed() says how that ended.
  virtual std::optional<kv::RunPrompt> take_prompt() { return std::nullopt; }
  virtual void computed(kv::PrefixCache& cache, const Status& how);
  // Begins nothing more; over when idle. store_closed: what was asked of the store will not be answered.
  virtual void stop(kv::PrefixCache& cache) = 0;
  virtual void store_closed(kv::PrefixCache& cache) = 0;
  virtual bool idle() const = 0;
  virtual std::uint64_t blocks_done() const = 0;
  virtual std::uint64_t blocks_moved() const = 0;
  virtual double progress() const = 0;
  // Gone with the run, and not before its own work is done.
  virtual NodeId anchor() const { return order_.range.node; }

  const TierOrder& order() const { return order_; }
  const ScopeId& scope() const { return scope_; }
  const TierTally& tally() const { return tally_; }
  const CodecFigures& figures() const { return figures_; }
  std::uint64_t blocks() const { return blocks_; }
  const std::vector<kv::ChainKey>& brought_up() const { return brought_up_; }  // whole blocks
  // Set: it cannot go on, and is to be stopped with this reason.
  const std::optional<Error>& failure() const { return failure_; }
  // Nodes that went, and what stands in their places, since the last call.
  std::vector<std::pair<NodeId, NodeId>> take_replaced() { return std::exchange(replaced_, {}); }

 protected:
  void count_miss(storage::Miss miss);
  void count_refused(storage::Refusal refusal);
  // The node leaves all tiers, its twin stands in its place from now on. Nothing, and counted, where it has to stay;
  // else what it was.  word: Eviction::policy
  std::optional<kv::BlockFacts> replace_leaf(kv::PrefixCache& cache, NodeId node, NodeId twin, const char* word);

  const TierOrder order_;
  const ScopeId scope_;
  const std::uint64_t blocks_;
  TierTally tally_;
  CodecFigures figures_;
  std::vector<kv::ChainKey> brought_up_;
  std::optional<Error> failure_;
  std::vector<std::pair<NodeId, NodeId>> replaced_;
};

}  // namespace larder::engine
