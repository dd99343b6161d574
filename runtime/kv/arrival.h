// SPDX-License-Identifier: Apache-2.0
// Arrival: cold blocks of one prompt on their way into the pool. It holds the resident path above them, so that they
// have a place to come to, and what came until it is destroyed, so that the prompt it was for finds it. Made by
// PrefixCache::begin_arrival; move-only.
// Way:      begin -> each block is answered once, in any order, by arrived or missed -> settled() -> open the claim ->
//           destroy. A block is found from the moment that it and all above it have arrived. Where it begins below
//           cold blocks that somebody else brings or computes (ColdPart::skip), look_again() finds them there.
// Requires: not destroyed before settled(): the blocks are being written to.
// Threads:  the engine thread only.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/base/ids.h"
#include "runtime/kv/cold_block.h"

namespace larder::kv {

class CacheCore;
class ArrivalPlan;

struct ArrivingBlock {
  BlockId to = kNoBlock;
  NodeId node{};
  ColdBlock cold;
};

enum class BlockFate : std::uint8_t { kOnItsWay, kVerified, kMissed };

// Which of the cold blocks of a prompt, top first.
struct ColdPart {
  std::size_t skip = 0;
  std::size_t most = ~std::size_t{0};
  const ColdNames* names = nullptr;  // of the prompt, from earlier: keys that are in it are not made again
};

class Arrival {
 public:
  Arrival() = default;
  Arrival(Arrival&& other) noexcept;
  Arrival& operator=(Arrival&& other) noexcept;
  Arrival(const Arrival&) = delete;
  Arrival& operator=(const Arrival&) = delete;
  ~Arrival();

  bool open() const { return core_ != nullptr; }
  const std::vector<ArrivingBlock>& blocks() const;
  // Every byte of block `index` is in place and was verified.
  void arrived(std::size_t index, std::uint64_t checksum) noexcept;
  // It cannot be had. gone: the stored copy is damaged or missing, so the node goes, and all below it; where there is
  // no memory for that, it throws, and the node stays until it is missed again.
  void missed(std::size_t index, bool gone);
  void look_again() noexcept;  // the block above the first one may be there now
  bool settled() const;
  bool complete() const;                // all can be found
  std::uint32_t warmed_tokens() const;  // of the blocks that can be found now

 private:
  friend class ArrivalPlan;
  Arrival(CacheCore* core, std::uint32_t slot) : core_(core), slot_(slot) {}
  void close() noexcept;

  CacheCore* core_ = nullptr;
  std::uint32_t slot_ = 0;
};

}  // namespace larder::kv
