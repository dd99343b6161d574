// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/snapshot_state.h"

#include <algorithm>

namespace larder::engine {
namespace {

template <typename T, typename Keep>
void keep_if(std::vector<T>& all, Keep keep) {
  all.erase(std::remove_if(all.begin(), all.end(), [&](const T& each) { return !keep(each); }), all.end());
}

RequestRecord record_for(const RequestRecord& record, const kv::Viewer& viewer) {
  RequestRecord seen = record;
  seen.verdict = kv::redact(record.verdict, viewer);
  if (!seen.verdict.divergence) {
    seen.diverged_here.clear();
    seen.diverged_cached.clear();
    seen.here_tokens.clear();
    seen.cached_tokens.clear();
  }
  return seen;
}

void hide_others(Snapshot& snapshot, TenantId tenant) {
  keep_if(snapshot.tenants, [&](const TenantInfo& info) { return info.id == tenant; });
  keep_if(snapshot.pins, [&](const PinInfo& pin) { return pin.tenant == tenant; });
  keep_if(snapshot.entries, [&](const EntryInfo& entry) { return entry.tenant == tenant; });
  snapshot.keys.clear();
  snapshot.jobs.clear();
  snapshot.broken_promises = 0;
  snapshot.last_broken_promise.clear();
  snapshot.history.clear();
  snapshot.store = {};
  for (PackInfo& pack : snapshot.packs) pack.node = {};
  for (ModelInfo& model : snapshot.models) model.path.clear();
}

std::shared_ptr<const std::vector<TreeNode>> own_tree(const std::vector<TreeNode>& tree, TenantId tenant) {
  auto own = std::make_shared<std::vector<TreeNode>>();
  for (const TreeNode& node : tree) {
    if (node.tenant == tenant.value) own->push_back(node);
  }
  return own;
}

}  // namespace

std::shared_ptr<const Snapshot> view_for(const SnapshotState& state, const Principal& who, std::uint64_t since) {
  auto seen = std::make_shared<Snapshot>(state.all);
  if (since > state.all.epoch) since = 0;
  seen->since = since;
  if (!who.admin) hide_others(*seen, who.tenant);
  if (since > 0 && since >= state.tree_epoch) {
    seen->tree = nullptr;
  } else if (!who.admin && seen->tree) {
    seen->tree = own_tree(*seen->tree, who.tenant);
  }
  for (const std::shared_ptr<const RequestRecord>& record : state.requests) {
    if (record->epoch <= since || (!who.admin && record->tenant != who.tenant.value)) continue;
    seen->requests.push_back(record_for(*record, {who.tenant, who.admin}));
  }
  return seen;
}

}  // namespace larder::engine
