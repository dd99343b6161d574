// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/pages/packs/pack_cost.h"

namespace larder::gui {

PackCost packCost(const SnapshotView& view, const PackInfo& pack) {
  PackCost cost;
  cost.tokens = pack.tokens;
  if (pack.warm) cost.compute_ms = 0;
  const ModelInfo* model = readyModel(view);
  if (model == nullptr || pack.tokens == 0) return cost;
  const std::uint64_t wanted = pack.tokens * model->kv_bytes_per_token;
  if (view.pool.block_bytes > 0) {
    cost.blocks = (wanted + view.pool.block_bytes - 1) / view.pool.block_bytes;
    cost.bytes = cost.blocks * view.pool.block_bytes;
  }
  if (!pack.warm && view.prefill_tokens_per_s > 0) {
    cost.compute_ms = 1000.0 * pack.tokens / view.prefill_tokens_per_s;
  }
  return cost;
}

std::uint64_t pinnedBytes(const SnapshotView& view) {
  return std::uint64_t{view.pool.blocks_pinned} * view.pool.block_bytes;
}

}  // namespace larder::gui
