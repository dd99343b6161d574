// SPDX-License-Identifier: Apache-2.0
// Claim: a running sequence's hold on blocks: the lease of what it matched and the blocks it writes. Made by
// PrefixCache::open; move-only. A destroyed claim closes as failed.
// Requires: at most one uncommitted stretch is being run when commit or rollback is called; build a step's block table
//           after the last commit (commit may exchange a block for an equal one that another sequence sealed first).
// Errors:   grow, append and commit may throw for want of memory. grow and append have changed nothing then; of what
//           was to be committed, whole blocks may be, and the rest can be committed again or given back. close and
//           rollback need no memory.
// Threads:  the engine thread only.    Units: positions and tokens; blocks of kBlockTokens.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/base/ids.h"
#include "runtime/base/result.h"
#include "runtime/kv/verdict.h"

namespace larder::kv {

class CacheCore;

// For the step's copies: `to` gets the first valid_tokens positions of `from` and zeros behind; 0: all zeros.
struct BlockCopy {
  BlockId from = kNoBlock;
  BlockId to = kNoBlock;
  std::uint32_t valid_tokens = 0;
};

enum class CloseAs : std::uint8_t {
  kDone,    // every step it ran was committed: the tail is sealed and kept
  kFailed,  // a step failed or was aborted: committed whole blocks stay, what it may have touched is dropped
};

struct Closed {
  NodeId end{};                   // the last node of its path that stays findable; 0: none
  std::uint32_t kept_tokens = 0;  // from the root to it
};

class Claim {
 public:
  Claim() = default;
  Claim(Claim&& other) noexcept;
  Claim& operator=(Claim&& other) noexcept;
  Claim(const Claim&) = delete;
  Claim& operator=(const Claim&) = delete;
  ~Claim();

  bool open() const { return core_ != nullptr; }
  SeqId seq() const;

  // First position that must be computed, from the moment of open; sharing plus the copied tail.
  std::uint32_t reused_tokens() const;
  // As the admin sees it; computed_tokens, saved_ms and prefill_tokens_per_s are the caller's to fill.
  const Verdict& verdict() const;

  // Prompt, then whatever was appended.
  const std::vector<Token>& tokens() const;
  // A decoded token that a coming row will run.
  void append(Token token);

  // Blocks for positions [0, blocks().size() * kBlockTokens), in order.
  const std::vector<BlockId>& blocks() const;
  // Makes room for positions < until, evicting where it must: exactly the shortfall, or nothing when that is not
  // enough. Requires: until <= tokens().size().
  // Errors: kResourceExhausted with the arithmetic; nothing has changed then.
  Status grow(std::uint32_t until);
  // Copies and zeroings that the next step of this sequence must do before its rows; each is given once.
  std::vector<BlockCopy> take_copies() noexcept;
  std::size_t copy_count() const;  // that take_copies would give now
  // Blocks that become full, hence sealed, once `until` is committed (for Step::seals).
  std::vector<BlockId> filled_by(std::uint32_t until) const;
  // Positions < until hold KV: they can be found from now on. Requires: committed() <= until <= room made by grow.
  void commit(std::uint32_t until);
  std::uint32_t committed() const;
  // After a failed step, to run it again: room past committed() is given back; a tail the step may have touched is
  // replaced by a copy of its committed tokens, so the next grow and take_copies make it clean.
  void rollback() noexcept;

  Closed close(CloseAs as) noexcept;

 private:
  friend class PrefixCache;
  Claim(CacheCore* core, std::uint32_t slot) : core_(core), slot_(slot) {}

  CacheCore* core_ = nullptr;
  std::uint32_t slot_ = 0;
};

}  // namespace larder::kv
