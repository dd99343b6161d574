// SPDX-License-Identifier: Apache-2.0
// The same tokens under several lineages of one load: each lies below a root of its own.
#include <algorithm>
#include <unordered_map>
#include <utility>

#include "runtime/base/invariant.h"
#include "runtime/kv/block_range.h"
#include "runtime/kv/cache_core.h"
#include "runtime/kv/room_for.h"

namespace larder::kv {
namespace {

using kernels::kBlockTokens;

// The sealed child of `parent` that stands for the node: of the same tokens, or, where it is no whole block, of more.
NodeIndex child_for(const PrefixTree& tree, NodeIndex parent, const Node& node) {
  const std::span<const Token> tokens = node.span();
  for (const NodeIndex index : tree.at(parent).children) {
    const Node& child = tree.at(index);
    if (!child.sealed || child.valid < node.valid) continue;
    if (child.key == node.key) return index;
    const bool holds = std::equal(tokens.begin(), tokens.end(), child.tokens.begin());
    if (node.valid < kBlockTokens && holds) return index;
  }
  return kNoNode;
}

NodeIndex root_under(const PrefixTree& tree, const ChainKey& root, const std::shared_ptr<const Identity>& identity) {
  PromptKeys keys;
  keys.identity = identity;
  keys.root = root;
  return tree.find_root(keys);
}

std::vector<NodeIndex> path_down_to(const PrefixTree& tree, NodeIndex node) {
  std::vector<NodeIndex> path;
  for (; !tree.at(node).is_root(); node = tree.at(node).parent) path.push_back(node);
  std::reverse(path.begin(), path.end());
  return path;
}

NodeIndex twin_of(const PrefixTree& tree, NodeIndex other_root, NodeIndex node) {
  NodeIndex twin = other_root;
  for (const NodeIndex each : path_down_to(tree, node)) {
    twin = child_for(tree, twin, tree.at(each));
    if (twin == kNoNode) return kNoNode;
  }
  return twin;
}

}  // namespace

bool PrefixCache::has_root(const ChainKey& root, const std::shared_ptr<const Identity>& identity) const {
  return root_under(core_->tree, root, identity) != kNoNode;
}

std::vector<NodeId> PrefixCache::twins(std::span<const NodeId> nodes,
                                       const std::shared_ptr<const Identity>& identity) const {
  const PrefixTree& tree = core_->tree;
  std::unordered_map<NodeIndex, NodeIndex> known;  // of parents that came before their children
  std::vector<NodeId> found;
  found.reserve(nodes.size());
  for (const NodeId id : nodes) {
    const NodeIndex node = tree.find(id);
    NodeIndex twin = kNoNode;
    if (node != kNoNode) {
      const NodeIndex root = root_under(tree, tree.at(tree.at(node).root).key, identity);
      const auto above = known.find(tree.at(node).parent);
      if (root == kNoNode) {
        twin = kNoNode;
      } else if (above != known.end()) {
        twin = above->second == kNoNode ? kNoNode : child_for(tree, above->second, tree.at(node));
      } else {
        twin = twin_of(tree, root, node);
      }
      known[node] = twin;
    }
    found.push_back(twin == kNoNode ? NodeId{} : tree.at(twin).id);
  }
  return found;
}

std::optional<RunPrompt> PrefixCache::prompt_of(NodeId node, const std::shared_ptr<const Identity>& identity) const {
  const PrefixTree& tree = core_->tree;
  const NodeIndex end = tree.find(node);
  if (end == kNoNode || !tree.at(end).sealed) return std::nullopt;
  auto prompt = std::make_shared<PreparedPrompt>();
  auto keys = std::make_shared<PromptKeys>();
  keys->scope = tree.facts_of(tree.at(end).root).scope;
  keys->identity = identity;
  keys->root = tree.at(tree.at(end).root).key;
  for (const NodeIndex index : path_down_to(tree, end)) {
    const Node& block = tree.at(index);
    const std::span<const Token> tokens = block.span();
    const std::uint32_t begin = block.first_position;
    if (prompt->sections.empty() || prompt->sections.back().label != block.label) {
      prompt->sections.push_back({SectionKind::kTemplate, block.label, 0, 0, begin, begin});
    }
    prompt->tokens.insert(prompt->tokens.end(), tokens.begin(), tokens.end());
    prompt->sections.back().token_end = begin + block.valid;
    if (block.valid == kBlockTokens) keys->blocks.push_back(block.key);
  }
  prompt->last_message_begin = static_cast<std::uint32_t>(prompt->tokens.size());
  return RunPrompt{std::move(prompt), std::move(keys), tree.at(end).owner};
}

Staying PrefixCache::drop_leaf(NodeId id, const char* policy_word) {
  CacheCore& core = *core_;
  const Staying stays = stays_anywhere(facts(id));
  if (stays != Staying::kNone) return stays;
  const NodeIndex index = core.tree.find(id);
  Eviction cause;
  cause.at = core.options.clock->wall();
  cause.policy = policy_word;
  core.leave_ghost(index, cause);
  core.remove_node(index);
  return stays;
}

std::vector<NodeIndex> CacheCore::rounded_twins(NodeIndex index) const {
  std::vector<NodeIndex> twins;
  const NodeIndex own = tree.at(index).root;
  const RootOf& facts = tree.facts_of(own);
  if (facts.identity->lineage != kernels::KvScheme::kExact) return twins;
  for (const NodeIndex root : tree.roots_of(facts.scope->id())) {
    if (root == own || tree.at(root).key != tree.at(own).key) continue;
    if (tree.facts_of(root).identity->lineage == kernels::KvScheme::kExact) continue;
    if (const NodeIndex twin = twin_of(tree, root, index); twin != kNoNode) twins.push_back(twin);
  }
  return twins;
}

void CacheCore::lose_rounded(const std::vector<NodeIndex>& nodes, std::span<const Digest256> identities) {
  room_for(lost, stored_nodes.size() + nodes.size() * identities.size());
  for (const NodeIndex index : nodes) {
    const Node& node = tree.at(index);
    const RootOf& root = tree.facts_of(node.root);
    if (!node.sealed) continue;
    for (const Digest256& identity : identities) {
      lost.push_back({root.scope->id(), block_key(root.scope->secret(), identity, node.key)});
    }
  }
}

}  // namespace larder::kv
