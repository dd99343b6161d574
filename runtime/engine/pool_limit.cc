// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/pool_limit.h"

#include <algorithm>

namespace larder::engine {

PoolLimit::PoolLimit(kv::PrefixCache& cache, exec::Executor& executor, const Clock& clock)
    : cache_(cache), executor_(executor), clock_(clock) {}

Status PoolLimit::set(std::uint32_t blocks) {
  if (blocks == this->blocks()) return {};
  RETURN_IF_ERROR(executor_.grow(blocks));
  cache_.set_block_limit(blocks);
  lowered_ = clock_.now();
  return {};
}

void PoolLimit::turn(bool durable) {
  trims_ = excess() > 0 && (durable || clock_.now() - lowered_ >= kLongestWaitNs);
  if (trims_) {
    const std::uint32_t before = excess();
    trims_ = cache_.trim(kSliceBlocks) < before;
  }
  const std::size_t slice = kSliceBytes / std::max<std::size_t>(1, executor_.layout().block_bytes());
  executor_.release_blocks(cache_.take_withheld(static_cast<std::uint32_t>(std::max<std::size_t>(1, slice))));
}

}  // namespace larder::engine
