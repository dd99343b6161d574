// SPDX-License-Identifier: Apache-2.0
// The tree as rows for people, and the cache's numbers.
#include <algorithm>
#include <map>
#include <utility>

#include "runtime/kv/cache_core.h"

namespace larder::kv {
namespace {

bool in_use(const CacheCore& core, const Node& node) { return node.resident() && core.pool.holders(node.block) > 0; }

// May `below` stand in the same row as its parent?
bool same_row(const CacheCore& core, const Node& above, const Node& below) {
  return above.children.size() == 1 && above.owner == below.owner && above.label == below.label &&
         (above.pins > 0) == (below.pins > 0) && in_use(core, above) == in_use(core, below) &&
         above.sealed == below.sealed;
}

TreeRow row_of(const CacheCore& core, const Node& node, NodeId parent) {
  TreeRow row;
  row.parent = parent;
  row.owner = node.owner;
  row.first_position = node.first_position;
  row.pinned = node.pins > 0;
  row.in_use = in_use(core, node);
  row.growing = !node.sealed;
  row.created = node.created;
  row.made_by = node.made_by;
  row.label = node.label;
  row.lineage = core.tree.facts_of(node.root).identity->lineage;
  row.foreign = core.tree.facts_of(node.root).identity->foreign != 0;
  return row;
}

void extend_row(TreeRow& row, const Node& node, const CopiedNodes& copied) {
  row.id = node.id;
  row.tokens += node.valid;
  row.blocks += 1;
  row.resident_blocks += node.resident() ? 1 : 0;
  row.stored_blocks += node.stored ? 1 : 0;
  row.hits = node.hits;
  row.last_hit = node.last_hit;
  if (node.resident() || !copied.contains(node.id)) return;
  if (row.ram_blocks == 0) row.ram_position = node.first_position;
  row.ram_blocks += 1;
}

}  // namespace

NodeIndex CacheCore::run_start(NodeIndex index) const {
  while (true) {
    const NodeIndex parent = tree.at(index).parent;
    if (tree.at(parent).is_root() || !same_row(*this, tree.at(parent), tree.at(index))) return index;
    index = parent;
  }
}

std::vector<TreeRow> PrefixCache::describe(const CopiedNodes& copied) const {
  const CacheCore& core = *core_;
  std::vector<TreeRow> rows;
  std::vector<std::pair<NodeIndex, NodeId>> open;  // where a row starts, id of the row above
  for (const NodeIndex root : core.tree.roots()) {
    for (const NodeIndex child : core.tree.at(root).children) open.emplace_back(child, NodeId{});
  }
  std::reverse(open.begin(), open.end());
  while (!open.empty()) {
    const auto [start, above] = open.back();
    open.pop_back();
    const Node* node = &core.tree.at(start);
    TreeRow row = row_of(core, *node, above);
    extend_row(row, *node, copied);
    while (node->children.size() == 1 && same_row(core, *node, core.tree.at(node->children.front()))) {
      node = &core.tree.at(node->children.front());
      extend_row(row, *node, copied);
    }
    for (auto child = node->children.rbegin(); child != node->children.rend(); ++child) {
      open.emplace_back(*child, row.id);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

Result<std::vector<TreeRow>> PrefixCache::locate(NodeId id) const {
  const CacheCore& core = *core_;
  NodeIndex index = core.tree.find(id);
  if (index == kNoNode) {
    return Error{ErrorCode::kNotFound, "no cached run " + std::to_string(id.value) + "; it may have been evicted", {}};
  }
  std::vector<NodeIndex> path;
  for (; !core.tree.at(index).is_root(); index = core.tree.at(index).parent) path.push_back(index);
  std::reverse(path.begin(), path.end());
  std::vector<TreeRow> rows;
  for (std::size_t i = 0; i < path.size(); ++i) {
    const Node& node = core.tree.at(path[i]);
    if (i == 0 || !same_row(core, core.tree.at(path[i - 1]), node)) {
      rows.push_back(row_of(core, node, rows.empty() ? NodeId{} : rows.back().id));
    }
    extend_row(rows.back(), node, {});
  }
  return rows;
}

CacheCounts PrefixCache::counts() const {
  const CacheCore& core = *core_;
  CacheCounts counts;
  counts.pool = core.pool.counts();
  counts.nodes = core.tree.size();
  counts.evictable = core.evictable;
  counts.pinned = core.pinned;
  counts.pin_budget = core.options.pin_budget_blocks;
  counts.open_claims = core.open_claims;
  counts.evicted_blocks = core.evicted_blocks;
  counts.adopted_blocks = core.adopted_blocks;
  counts.superseded_blocks = core.superseded_blocks;
  counts.cooled_blocks = core.cooled_blocks;
  counts.warmed_blocks = core.warmed_blocks;
  counts.forgotten_cold = core.forgotten_cold;
  return counts;
}

std::vector<TenantUse> PrefixCache::use_by_tenant() const {
  const CacheCore& core = *core_;
  std::map<TenantId, TenantUse> uses;
  for (const auto& [tenant, use] : core.owned) {
    if (use.blocks > 0) uses[tenant] = {tenant, use.blocks, 0};
  }
  for (const NodeIndex root : core.tree.roots()) {
    for (const NodeIndex index : core.tree.subtree(root)) {
      const Node& node = core.tree.at(index);
      if (!node.is_root() && node.pins > 0) ++uses[node.owner].pinned;
    }
  }
  std::vector<TenantUse> list;
  for (const auto& [tenant, use] : uses) list.push_back(use);
  return list;
}

}  // namespace larder::kv
