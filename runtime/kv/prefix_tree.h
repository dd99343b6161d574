// SPDX-License-Identifier: Apache-2.0
// PrefixTree: nodes over blocks, one tree per root (scope, salt, identity). A node holds the tokens of one block; only
// a full node has children; siblings lie ordered by tokens, so the longest common start is a neighbour of any place.
// A node is resident while a block of the pool holds its KV, and cold while only a lower tier does; above a resident
// node every node is resident.
// What it is not: it knows no pool, claims, pins' rules or eviction; it keeps their per-node numbers for them.
// Errors:   use_root, add and what answers a vector may throw for want of memory, and have changed nothing then; the
//           rest needs none.
// Bounds:   one node per published block, one per root in use.
// Threads:  the engine thread only.    Units: tokens.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "kernels/layout/kv_layout.h"
#include "runtime/base/clock.h"
#include "runtime/base/ids.h"
#include "runtime/kv/block_key.h"
#include "storage/leaf_order.h"

namespace larder::kv {

using NodeIndex = std::uint32_t;
inline constexpr NodeIndex kNoNode = 0xffffffffu;

// What one root's tree belongs to. Two roots of one identity hold the same pointer.
struct RootOf {
  tenant::Scope scope;
  std::shared_ptr<const Identity> identity;
};

struct Node {
  std::array<Token, kernels::kBlockTokens> tokens{};
  std::uint32_t valid = 0;  // tokens used of them; 0 for a root
  ChainKey key{};           // of a sealed node, and of a root
  NodeIndex parent = kNoNode;
  NodeIndex root = kNoNode;
  std::vector<NodeIndex> children;
  BlockId block = kNoBlock;  // kNoBlock for a root and a cold node
  std::uint32_t resident_children = 0;
  std::uint32_t first_position = 0;
  NodeId id{};
  TenantId owner{};
  RequestId made_by{};
  std::string label;
  bool sealed = false;
  std::uint32_t pins = 0;
  std::uint32_t users = 0;  // of a root: open claims
  std::unique_ptr<const RootOf> facts;  // of a root
  std::uint64_t hits = 0;
  std::uint64_t last_use = 0;
  WallTime created = 0;
  WallTime last_hit = 0;
  bool stored = false;       // a durable copy lies on a lower tier
  bool arriving = false;     // cold, and being read into a block
  bool queued = false;       // it waits in the NodeQueue, between these two
  NodeIndex queue_before = kNoNode;
  NodeIndex queue_after = kNoNode;
  WallTime demoted = 0;      // cold: when its block gave way; 0: before this start
  std::optional<storage::LeafOrder::Place> listed;

  bool is_root() const { return valid == 0; }
  bool resident() const { return block != kNoBlock; }
  std::span<const Token> span() const { return {tokens.data(), valid}; }
};

// How far a prompt agrees with a tree, cold nodes included.
struct Walk {
  std::vector<NodeIndex> whole;  // full nodes, from the root
  NodeIndex last = kNoNode;      // the root or the last of whole
  NodeIndex nearest = kNoNode;   // its child with the longest common start, if any; of equals one that ends there
  std::uint32_t nearest_common = 0;
  std::uint32_t seen = 0;        // tokens in all
};

class PrefixTree {
 public:
  // last_id: of the nodes made so far, here or in another tree; counted on. It outlives the tree.
  explicit PrefixTree(std::uint64_t& last_id) : last_id_(last_id) {}

  NodeIndex find_root(const PromptKeys& keys) const;
  NodeIndex use_root(const PromptKeys& keys);  // found or made; counts a user
  void leave_root(NodeIndex root) noexcept;    // gone with its last user and child
  void drop_root_if_unused(NodeIndex root) noexcept;
  std::vector<NodeIndex> roots() const;
  std::vector<NodeIndex> roots_of(const ScopeId& scope) const;
  const RootOf& facts_of(NodeIndex root) const { return *nodes_[root].facts; }

  Walk walk(NodeIndex root, std::span<const Token> tokens) const;
  // A full child with exactly these tokens, other than `except`.
  NodeIndex find_full_child(NodeIndex parent, std::span<const Token> tokens, NodeIndex except) const;
  // The sibling just before, or just after, in token order; kNoNode at the end.
  NodeIndex neighbour(NodeIndex node, int step) const;

  NodeIndex add(NodeIndex parent, std::span<const Token> tokens, BlockId block);  // kNoBlock: cold
  // Gives a cold node a block, or takes a resident one's (kNoBlock).
  void set_block(NodeIndex node, BlockId block);
  // Replaces a growing node's tokens by more of them. Requires: not sealed.
  void extend(NodeIndex node, std::span<const Token> tokens);
  void remove(NodeIndex node);  // Requires: no children; not a root
  std::vector<NodeIndex> subtree(NodeIndex top) const;  // parents before children, siblings in order

  Node& at(NodeIndex node) { return nodes_[node]; }
  const Node& at(NodeIndex node) const { return nodes_[node]; }
  NodeIndex find(NodeId id) const;
  std::uint32_t size() const { return size_; }  // nodes, without roots
  std::string audit() const;

 private:
  struct RootName {
    ChainKey key{};
    const Identity* identity = nullptr;
    friend bool operator==(const RootName&, const RootName&) = default;
  };
  struct RootNameHash {
    std::size_t operator()(const RootName& name) const { return DigestHash{}(name.key); }  // few identities at a time
  };

  void room_for_slot();
  NodeIndex take_slot() noexcept;  // after room_for_slot
  void link(NodeIndex node);
  void unlink(NodeIndex node);
  std::size_t place_of(const Node& parent, std::span<const Token> tokens) const;

  std::vector<Node> nodes_;
  std::vector<NodeIndex> free_;  // with room for all of nodes_
  std::unordered_map<RootName, NodeIndex, RootNameHash> roots_;
  std::unordered_map<NodeId, NodeIndex> ids_;
  std::uint64_t& last_id_;
  std::uint32_t size_ = 0;
};

}  // namespace larder::kv
