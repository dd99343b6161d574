// SPDX-License-Identifier: Apache-2.0
// ReuseHistory: what was cached once, so that a verdict can name the cause: ghosts of blocks that gave way, and marks
// of token chains with the identity they were cached under. It outlives a model, so that the next one can say "other
// identity". It holds keyed hashes, and tokens only for tails shorter than a block.
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
  BlockKey parent{};
  std::uint32_t first_position = 0;
  std::uint32_t tokens = 0;
  std::vector<Token> tail;  // the tokens when fewer than a block and not deleted on purpose
  Eviction eviction;        // lost_tokens is filled by whoever asks
};

class ReuseHistory {
 public:
  static constexpr std::size_t kMaxTailsPerParent = 64;

  ReuseHistory(std::size_t max_ghosts, std::size_t max_marks) : max_ghosts_(max_ghosts), max_marks_(max_marks) {}

  void add_ghost(const BlockKey& key, Ghost ghost);
  // The block is here again.
  void drop_ghost(const BlockKey& key);
  const Ghost* find_ghost(const BlockKey& key) const;
  // The ghost below `parent` of a short tail that shares most tokens with `tokens`, and how many it shares.
  std::pair<const Ghost*, std::uint32_t> find_tail_ghost(const BlockKey& parent, std::span<const Token> tokens) const;

  void mark(const BlockKey& neutral, const ScopeId& scope, std::shared_ptr<const Identity> identity);
  const Identity* find_mark(const BlockKey& neutral) const;

  void forget_scope(const ScopeId& scope);

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
  using Queue = std::deque<std::pair<BlockKey, std::uint64_t>>;

  void unlink_tail(const BlockKey& key, const Ghost& ghost);

  std::size_t max_ghosts_;
  std::size_t max_marks_;
  std::uint64_t turn_ = 0;
  std::unordered_map<BlockKey, Kept, DigestHash> ghosts_;
  std::unordered_map<BlockKey, std::vector<BlockKey>, DigestHash> tails_;  // parent -> ghosts with tail tokens
  Queue ghost_order_;
  std::unordered_map<BlockKey, Mark, DigestHash> marks_;
  Queue mark_order_;
};

}  // namespace larder::kv
