// SPDX-License-Identifier: Apache-2.0
#include "runtime/kv/prefix_tree.h"

#include <algorithm>
#include <cstring>

#include "runtime/base/invariant.h"
#include "runtime/kv/room_for.h"

namespace larder::kv {
namespace {

using kernels::kBlockTokens;

std::uint32_t common_start(std::span<const Token> a, std::span<const Token> b) {
  const std::size_t most = std::min(a.size(), b.size());
  if (std::memcmp(a.data(), b.data(), most * sizeof(Token)) == 0) return static_cast<std::uint32_t>(most);
  return static_cast<std::uint32_t>(std::mismatch(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(most), b.begin())
                                        .first - a.begin());
}

bool before(std::span<const Token> a, std::span<const Token> b) {
  return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
}

}  // namespace

NodeIndex PrefixTree::find_root(const PromptKeys& keys) const {
  const auto found = roots_.find({keys.root, keys.identity.get()});
  return found == roots_.end() ? kNoNode : found->second;
}

NodeIndex PrefixTree::use_root(const PromptKeys& keys) {
  NodeIndex root = find_root(keys);
  if (root == kNoNode) {
    auto facts = std::make_unique<const RootOf>(RootOf{keys.scope, keys.identity});
    room_for_slot();
    const auto made = roots_.emplace(RootName{keys.root, keys.identity.get()}, kNoNode).first;
    root = made->second = take_slot();
    nodes_[root].key = keys.root;
    nodes_[root].root = root;
    nodes_[root].facts = std::move(facts);
  }
  ++nodes_[root].users;
  return root;
}

void PrefixTree::leave_root(NodeIndex root) noexcept {
  INVARIANT(nodes_[root].users > 0);
  --nodes_[root].users;
  drop_root_if_unused(root);
}

void PrefixTree::drop_root_if_unused(NodeIndex root) noexcept {
  Node& node = nodes_[root];
  if (node.users > 0 || !node.children.empty()) return;
  roots_.erase({node.key, node.facts->identity.get()});
  node = Node{};
  free_.push_back(root);
}

std::vector<NodeIndex> PrefixTree::roots() const {
  std::vector<NodeIndex> all;
  for (const auto& [name, root] : roots_) all.push_back(root);
  std::sort(all.begin(), all.end());
  return all;
}

std::vector<NodeIndex> PrefixTree::roots_of(const ScopeId& scope) const {
  std::vector<NodeIndex> some;
  for (const auto& [name, root] : roots_) {
    if (facts_of(root).scope->id() == scope) some.push_back(root);
  }
  return some;
}

// Index of the first child whose tokens do not come before `tokens`.
std::size_t PrefixTree::place_of(const Node& parent, std::span<const Token> tokens) const {
  const auto place = std::partition_point(parent.children.begin(), parent.children.end(),
                                          [&](NodeIndex child) { return before(nodes_[child].span(), tokens); });
  return static_cast<std::size_t>(place - parent.children.begin());
}

Walk PrefixTree::walk(NodeIndex root, std::span<const Token> tokens) const {
  Walk walk;
  walk.last = root;
  if (root == kNoNode) return walk;
  walk.whole.reserve(tokens.size() / kBlockTokens);
  while (true) {
    const Node& parent = nodes_[walk.last];
    walk.nearest = kNoNode;
    walk.nearest_common = 0;
    if (parent.children.empty()) return walk;
    const std::span<const Token> rest = tokens.subspan(walk.seen);
    const std::span<const Token> part = rest.first(std::min<std::size_t>(rest.size(), kBlockTokens));
    const std::size_t place = parent.children.size() == 1 ? 0 : place_of(parent, part);
    for (std::size_t i = place == 0 ? 0 : place - 1; i <= place && i < parent.children.size(); ++i) {
      const NodeIndex child = parent.children[i];
      const Node& node = nodes_[child];
      const std::uint32_t common = common_start(node.span(), part);
      const bool better =
          walk.nearest == kNoNode || common > walk.nearest_common ||
          (common == walk.nearest_common && nodes_[walk.nearest].valid != common &&
           (node.valid == common || node.last_use > nodes_[walk.nearest].last_use));
      if (!better) continue;
      walk.nearest = child;
      walk.nearest_common = common;
    }
    if (walk.nearest_common < kBlockTokens) {
      walk.seen += walk.nearest_common;
      return walk;
    }
    walk.seen += kBlockTokens;
    walk.last = walk.nearest;
    walk.whole.push_back(walk.nearest);
  }
}

NodeIndex PrefixTree::find_full_child(NodeIndex parent, std::span<const Token> tokens, NodeIndex except) const {
  const std::vector<NodeIndex>& children = nodes_[parent].children;
  for (std::size_t i = place_of(nodes_[parent], tokens); i < children.size(); ++i) {
    const Node& child = nodes_[children[i]];
    if (child.valid != tokens.size() || common_start(child.span(), tokens) != tokens.size()) break;
    if (children[i] != except) return children[i];
  }
  return kNoNode;
}

NodeIndex PrefixTree::neighbour(NodeIndex node, int step) const {
  const std::vector<NodeIndex>& children = nodes_[nodes_[node].parent].children;
  const auto at = std::find(children.begin() + static_cast<std::ptrdiff_t>(
                                place_of(nodes_[nodes_[node].parent], nodes_[node].span())),
                            children.end(), node);
  INVARIANT(at != children.end());
  if (step < 0) return at == children.begin() ? kNoNode : *(at - 1);
  return at + 1 == children.end() ? kNoNode : *(at + 1);
}

void PrefixTree::room_for_slot() {
  if (!free_.empty()) return;
  room_for(nodes_, 1);
  free_.reserve(nodes_.capacity());
  free_.push_back(static_cast<NodeIndex>(nodes_.size()));
  nodes_.emplace_back();
}

NodeIndex PrefixTree::take_slot() noexcept {
  const NodeIndex slot = free_.back();
  free_.pop_back();
  return slot;
}

void PrefixTree::link(NodeIndex node) {
  std::vector<NodeIndex>& children = nodes_[nodes_[node].parent].children;
  const std::size_t place = place_of(nodes_[nodes_[node].parent], nodes_[node].span());
  children.insert(children.begin() + static_cast<std::ptrdiff_t>(place), node);
}

void PrefixTree::unlink(NodeIndex node) {
  std::vector<NodeIndex>& children = nodes_[nodes_[node].parent].children;
  const auto at = std::find(children.begin() + static_cast<std::ptrdiff_t>(
                                place_of(nodes_[nodes_[node].parent], nodes_[node].span())),
                            children.end(), node);
  INVARIANT(at != children.end());
  children.erase(at);
}

NodeIndex PrefixTree::add(NodeIndex parent, std::span<const Token> tokens, BlockId block) {
  INVARIANT(!tokens.empty() && tokens.size() <= kBlockTokens);
  INVARIANT(nodes_[parent].is_root() || nodes_[parent].valid == kBlockTokens);
  room_for_slot();
  room_for(nodes_[parent].children, 1);
  const auto named = ids_.emplace(NodeId{last_id_ + 1}, kNoNode).first;
  const NodeIndex index = named->second = take_slot();
  Node& node = nodes_[index];
  std::copy(tokens.begin(), tokens.end(), node.tokens.begin());
  node.valid = static_cast<std::uint32_t>(tokens.size());
  node.parent = parent;
  node.root = nodes_[parent].root;
  node.first_position = nodes_[parent].is_root() ? 0 : nodes_[parent].first_position + kBlockTokens;
  node.id = NodeId{++last_id_};
  link(index);
  set_block(index, block);
  ++size_;
  return index;
}

void PrefixTree::set_block(NodeIndex index, BlockId block) {
  Node& node = nodes_[index];
  INVARIANT(!node.is_root());
  if (node.resident() != (block != kNoBlock)) nodes_[node.parent].resident_children += block != kNoBlock ? 1u : ~0u;
  node.block = block;
}

void PrefixTree::extend(NodeIndex index, std::span<const Token> tokens) {
  Node& node = nodes_[index];
  INVARIANT(!node.sealed && tokens.size() >= node.valid && tokens.size() <= kBlockTokens);
  unlink(index);
  std::copy(tokens.begin(), tokens.end(), node.tokens.begin());
  node.valid = static_cast<std::uint32_t>(tokens.size());
  link(index);
}

void PrefixTree::remove(NodeIndex index) {
  Node& node = nodes_[index];
  INVARIANT(!node.is_root() && node.children.empty() && !node.listed);
  set_block(index, kNoBlock);
  unlink(index);
  ids_.erase(node.id);
  node = Node{};
  free_.push_back(index);
  --size_;
}

std::vector<NodeIndex> PrefixTree::subtree(NodeIndex top) const {
  std::vector<NodeIndex> found;
  std::vector<NodeIndex> open{top};
  while (!open.empty()) {
    const NodeIndex node = open.back();
    open.pop_back();
    found.push_back(node);
    const std::vector<NodeIndex>& children = nodes_[node].children;
    open.insert(open.end(), children.rbegin(), children.rend());
  }
  return found;
}

NodeIndex PrefixTree::find(NodeId id) const {
  const auto found = ids_.find(id);
  return found == ids_.end() ? kNoNode : found->second;
}

std::string PrefixTree::audit() const {
  std::uint32_t counted = 0;
  for (const NodeIndex root : roots()) {
    for (const NodeIndex index : subtree(root)) {
      const Node& node = nodes_[index];
      if (index != root) ++counted;
      if (node.root != root) return "a node names another root";
      if (!node.is_root() && find(node.id) != index) return "a node is not found by its id";
      if (!node.children.empty() && !node.is_root() && node.valid != kBlockTokens) return "a partial node has children";
      std::uint32_t resident = 0;
      for (const NodeIndex child : node.children) resident += nodes_[child].resident() ? 1 : 0;
      if (resident != node.resident_children) return "the count of resident children is wrong";
      if (resident > 0 && !node.is_root() && !node.resident()) return "a resident node lies below a cold one";
      for (std::size_t i = 0; i < node.children.size(); ++i) {
        const Node& child = nodes_[node.children[i]];
        if (child.parent != index) return "a child names another parent";
        if (i > 0 && before(child.span(), nodes_[node.children[i - 1]].span())) return "siblings are out of order";
        if (child.pins > node.pins && !node.is_root()) return "a child has more pins than its parent";
        const std::uint32_t expected = node.is_root() ? 0 : node.first_position + kBlockTokens;
        if (child.first_position != expected) return "a node's position does not follow its parent's";
      }
    }
  }
  if (counted != size_) return "the count of nodes is wrong";
  return {};
}

}  // namespace larder::kv
