// SPDX-License-Identifier: Apache-2.0
// NodeQueue: nodes of one tree in the order in which they came in, each at most once. Its links lie in the nodes, so it
// needs no memory.
// Requires: a node leaves it before it leaves the tree.    Threads: one owner.
#pragma once

#include "runtime/kv/prefix_tree.h"

namespace larder::kv {

class NodeQueue {
 public:
  explicit NodeQueue(PrefixTree& tree) : tree_(tree) {}

  bool empty() const { return first_ == kNoNode; }
  NodeIndex front() const { return first_; }
  // One that waits already keeps its place.
  void push_back(NodeIndex node) noexcept {
    if (!tree_.at(node).queued) link(last_, node, kNoNode);
  }
  void push_front(NodeIndex node) noexcept {
    erase(node);
    link(kNoNode, node, first_);
  }
  // Nothing where it does not wait.
  void erase(NodeIndex index) noexcept {
    Node& node = tree_.at(index);
    if (!node.queued) return;
    after(node.queue_before) = node.queue_after;
    before(node.queue_after) = node.queue_before;
    node.queued = false;
  }

 private:
  NodeIndex& after(NodeIndex node) { return node == kNoNode ? first_ : tree_.at(node).queue_after; }
  NodeIndex& before(NodeIndex node) { return node == kNoNode ? last_ : tree_.at(node).queue_before; }
  void link(NodeIndex above, NodeIndex index, NodeIndex below) noexcept {
    Node& node = tree_.at(index);
    node.queued = true;
    node.queue_before = above;
    node.queue_after = below;
    after(above) = index;
    before(below) = index;
  }

  PrefixTree& tree_;
  NodeIndex first_ = kNoNode;
  NodeIndex last_ = kNoNode;
};

}  // namespace larder::kv
