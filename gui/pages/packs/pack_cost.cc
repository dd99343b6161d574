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
  if (const std::uint64_t block = model->pool.block_bytes; block > 0) {
    cost.blocks = (wanted + block - 1) / block;
    cost.bytes = cost.blocks * block;
  }
  if (!pack.warm && view.prefill_tokens_per_s > 0) {
    cost.compute_ms = 1000.0 * pack.tokens / view.prefill_tokens_per_s;
  }
  return cost;
}

std::uint64_t pinnedBytes(const SnapshotView& view) {
  return view.pool.bytes_pinned;
}

}  // namespace larder::gui
