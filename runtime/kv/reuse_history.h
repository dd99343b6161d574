// SPDX-License-Identifier: Apache-2.0
// ReuseHistory: what was cached once, so that a verdict can name the cause: ghosts of blocks that gave way, and marks
// of token chains with the identity they were cached under. It outlives a model, so that the next one can say "other
// identity". It holds chain keys, and tokens only for tails shorter than a block.
// Errors:   add_ghost and mark may throw for want of memory; at worst the ghost is there without its tail then. What
//           drops and forgets needs none.
// Ensures:  a ghost is found under an equal identity only; one whose digest arrives later is equal from then on.
// Bounds:   max_ghosts and max_marks; the oldest go first. Everything of a scope goes with forget_scope.
// Threads:  the engine thread only.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtime/base/clock.h"
#include "runtime/base/ids.h"
#include "runtime/kv/block_key.h"
#include "runtime/kv/verdict.h"

namespace larder::kv {

struct Ghost {
  ScopeId scope{};
  std::shared_ptr<const Identity> identity;
  ChainKey parent{};
  std::uint32_t first_position = 0;
  std::uint32_t tokens = 0;
  std::vector<Token> tail;  // the tokens when fewer than a block and not deleted on purpose
  Eviction eviction;        // lost_tokens is filled by whoever asks
};

class ReuseHistory {
 public:
  static constexpr std::size_t kMaxTailsPerParent = 64;

  ReuseHistory(std::size_t max_ghosts, std::size_t max_marks) : max_ghosts_(max_ghosts), max_marks_(max_marks) {}

  // Requires: the ghost's identity is not null.
  void add_ghost(const ChainKey& key, Ghost ghost);
  // The block is here again.
  void drop_ghost(const ChainKey& key, const Identity& identity) noexcept;
  const Ghost* find_ghost(const ChainKey& key, const Identity& identity) const;
  // The ghost below `parent` of a short tail that shares most tokens with `tokens`, and how many it shares.
  std::pair<const Ghost*, std::uint32_t> find_tail_ghost(const ChainKey& parent, const Identity& identity,
                                                         std::span<const Token> tokens) const;

  // The identity that the chain was cached under last.
  void mark(const ChainKey& key, const ScopeId& scope, std::shared_ptr<const Identity> identity);
  const Identity* find_mark(const ChainKey& key) const;

  void forget_scope(const ScopeId& scope) noexcept;

  std::size_t ghost_count() const { return ghosts_.size(); }
  std::size_t mark_count() const { return marks_.size(); }

 private:
  struct Mark {
    ScopeId scope{};
    std::shared_ptr<const Identity> identity;
    std::uint64_t turn = 0;
  };
  struct Kept {
    Ghost ghost;
    std::uint64_t turn = 0;
  };
  using Queue = std::deque<std::pair<ChainKey, std::uint64_t>>;
  using Ghosts = std::unordered_multimap<ChainKey, Kept, DigestHash>;  // one per identity

  template <typename Wanted>
  Ghosts::const_iterator find_if(const ChainKey& key, Wanted wanted) const;
  void erase(Ghosts::const_iterator ghost);
  void link_tail(const Ghosts::value_type& entry);
  void unlink_tail(const Kept& kept);

  std::size_t max_ghosts_;
  std::size_t max_marks_;
  std::uint64_t turn_ = 0;
  Ghosts ghosts_;
  std::unordered_map<ChainKey, std::vector<const Ghosts::value_type*>, DigestHash> tails_;  // parent -> those with tail
  Queue ghost_order_;
  std::unordered_map<ChainKey, Mark, DigestHash> marks_;
  Queue mark_order_;
};

}  // namespace larder::kv
