// SPDX-License-Identifier: Apache-2.0
// BlockPool: who has which block of the executor's arena. It knows states and counts, no tokens, no tree, no bytes.
// A block has a residency and, apart from it, at most one writer:
//   free -> resident (allocate) | arriving (a lower tier fills it);  arriving -> resident (verified) | free (refused)
//   resident -> leaving (a copy goes down) -> resident | free;  resident -> condemned -> free;  free <-> withheld
// It is kept by its holders (sequences) and by being published (a tree node); when neither is left it is free again.
// Of the arena's blocks the pool uses as many as its limit says; the rest is withheld: never handed out, its memory may
// go back to the system. A limit below what is taken withholds the free ones now, the others as they become free.
// Ensures:  an illegal edge is an INVARIANT; counts() equals recount() after every call; a freed block is reused before
//           one that was never used.
// Bounds:   the limit.    Threads: the engine thread only.    Units: blocks, tokens.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/layout/kv_layout.h"
#include "runtime/base/ids.h"

namespace larder::kv {

enum class Residency : std::uint8_t { kFree, kResident, kArriving, kLeaving, kCondemned, kWithheld };

// total = free + cached + in_use + arriving + leaving: the limit, or more while blocks beyond it are still taken.
struct PoolCounts {
  std::uint32_t total = 0;
  std::uint32_t free = 0;
  std::uint32_t cached = 0;     // published, no holder
  std::uint32_t in_use = 0;     // held, condemned ones included
  std::uint32_t condemned = 0;  // of in_use: no longer findable, free at the last release
  std::uint32_t arriving = 0;
  std::uint32_t leaving = 0;

  friend bool operator==(const PoolCounts&, const PoolCounts&) = default;
};

class BlockPool {
 public:
  explicit BlockPool(std::uint32_t limit);

  // Blocks exist from id 0 up to the highest limit there ever was.
  void set_limit(std::uint32_t limit);
  std::uint32_t limit() const { return limit_; }
  std::uint32_t ids() const { return static_cast<std::uint32_t>(slots_.size()); }
  // Blocks that are taken beyond the limit and go when they are free.
  std::uint32_t excess() const { return counts_.total > limit_ ? counts_.total - limit_ : 0; }
  // At most so many of those that were withheld and not taken yet: what they held is of no use any more.
  std::vector<BlockId> take_withheld(std::uint32_t most = 0xffffffff);
  bool has_withheld() const { return untaken_ > 0; }

  // A resident block held once by its writer; nothing when all are taken.
  std::optional<BlockId> allocate(SeqId writer);
  void hold(BlockId block);
  void release(BlockId block);

  // The tree takes or gives up the block. unpublish condemns it while it has holders.
  void publish(BlockId block);
  void unpublish(BlockId block);

  // Requires: a writer; valid does not shrink and is at most kBlockTokens.
  void set_valid_tokens(BlockId block, std::uint32_t valid);
  // The writer leaves; from now on the block never changes.    Requires: a writer and valid tokens.
  void seal(BlockId block);
  void set_checksum(BlockId block, std::uint64_t checksum);  // Requires: sealed

  // Edges for tier copies.
  std::optional<BlockId> begin_arrival();
  void finish_arrival(BlockId block, std::uint32_t valid, bool verified);  // verified: held once; else free
  void begin_leaving(BlockId block);                                       // Requires: sealed, published, no holder
  void finish_leaving(BlockId block, bool drop);

  Residency residency(BlockId block) const { return at(block).residency; }
  std::optional<SeqId> writer(BlockId block) const;
  std::uint32_t holders(BlockId block) const { return at(block).holders; }
  bool published(BlockId block) const { return at(block).published; }
  std::uint32_t valid_tokens(BlockId block) const { return at(block).valid; }
  std::uint64_t checksum(BlockId block) const { return at(block).checksum; }  // 0: not known

  const PoolCounts& counts() const { return counts_; }
  PoolCounts recount() const;

 private:
  struct Slot {
    Residency residency = Residency::kFree;
    bool published = false;
    bool has_writer = false;
    std::uint8_t valid = 0;
    std::uint32_t holders = 0;
    SeqId writer{};
    std::uint64_t checksum = 0;
  };

  Slot& at(BlockId block);
  const Slot& at(BlockId block) const;
  void free_if_unkept(BlockId block);
  void withhold(BlockId block);
  static void count(PoolCounts& counts, const Slot& slot, std::uint32_t sign);

  std::vector<Slot> slots_;
  std::vector<BlockId> free_list_;
  std::vector<BlockId> withheld_;  // take_withheld has not told the last untaken_ of them
  std::size_t untaken_ = 0;
  std::uint32_t limit_ = 0;
  PoolCounts counts_;
};

}  // namespace larder::kv
