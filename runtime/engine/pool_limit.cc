// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/pool_limit.h"

#include <algorithm>
#include <span>

namespace larder::engine {

PoolLimit::PoolLimit(kv::PrefixCache& cache, exec::Executor& executor, const Clock& clock)
    : cache_(cache), executor_(executor), clock_(clock) {}

Status PoolLimit::set(std::uint32_t blocks) {
  if (blocks == this->blocks()) return {};
  RETURN_IF_ERROR(executor_.grow(blocks));
  cache_.set_block_limit(blocks);
  // What came back into use keeps its memory.
  std::erase_if(leaving_, [this](BlockId block) { return cache_.pool().residency(block) != kv::Residency::kWithheld; });
  lowered_ = clock_.now();
  return {};
}

void PoolLimit::turn(bool durable) {
  trims_ = excess() > 0 && (durable || clock_.now() - lowered_ >= kLongestWaitNs);
  if (trims_) {
    const std::uint32_t before = excess();
    trims_ = cache_.trim(kSliceBlocks) < before;
  }
  for (const BlockId block : cache_.take_withheld()) leaving_.push_back(block);
  give_back();
}

void PoolLimit::give_back() {
  const std::size_t most = kSliceBytes / std::max<std::size_t>(1, executor_.layout().block_bytes());
  const std::size_t count = std::min(std::max<std::size_t>(1, most), leaving_.size());
  if (count == 0) return;
  executor_.release_blocks(std::span(leaving_).last(count));
  leaving_.resize(leaving_.size() - count);
}

}  // namespace larder::engine
