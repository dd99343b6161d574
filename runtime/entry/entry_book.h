// SPDX-License-Identifier: Apache-2.0
// EntryBook: what a person sees of the prefix tree: named runs from the root, made from the sections of requests that
// ended: system prompt, tools, document, pack, conversation. An entry points at a node; when the node is gone, so is
// the entry. Bounds:   kMaxEntries; the one used longest ago gives way. Threads:  engine thread.    Units: tokens, ms.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/base/clock.h"
#include "runtime/base/ids.h"
#include "runtime/base/section.h"
#include "runtime/kv/tree_row.h"

namespace larder::entry {

inline constexpr std::size_t kMaxEntries = 512;

struct Entry {
  EntryId id{};
  NodeId node{};
  TenantId tenant{};
  std::string name;
  std::uint32_t tokens = 0;
  std::uint64_t hits = 0;
  double saved_ms = 0;
  WallTime last_used = 0;
};

// One request that ended, with the way its tokens lie in the tree (PrefixCache::locate of its last node).
struct EntryFacts {
  TenantId tenant{};
  std::string label;  // of the request or pack; empty: made from the sections
  std::vector<kv::TreeRow> path;
  std::vector<Section> sections;
  std::uint32_t reused_tokens = 0;
  double saved_ms = 0;
  WallTime now = 0;
};

class EntryBook {
 public:
  void note(const EntryFacts& facts);
  // An entry of an earlier start, with a new id; nothing when the book is full or has one at its node.
  std::optional<EntryId> bring_back(Entry entry);
  // The entry of a node that went is that of the one which took its place. Needs no memory.
  void follow(NodeId gone, NodeId instead);
  // Drops entries whose node does not exist any more.
  void sweep(const std::function<bool(NodeId)>& exists);
  void forget_tenant(TenantId tenant);
  void clear();
  // By last use, newest first.
  std::vector<Entry> list() const;

 private:
  void put(const EntryFacts& facts, NodeId node, std::uint32_t tokens, const std::string& name);

  std::unordered_map<NodeId, Entry> by_node_;
  std::uint64_t next_id_ = 1;
};

}  // namespace larder::entry
