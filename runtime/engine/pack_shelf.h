// SPDX-License-Identifier: Apache-2.0
// PackShelf: the packs that exist and what each loaded model knows of them: their token count, and the node that holds
// them once they were warmed.
// Threads: engine thread.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/base/ids.h"
#include "runtime/engine/loaded_model.h"
#include "runtime/engine/request.h"
#include "runtime/engine/snapshot.h"
#include "runtime/entry/pack.h"
#include "runtime/kv/prefix_cache.h"

namespace larder::engine {

// The chat that stands for a pack: its text as system message, and a user message of which only the start is shared.
ChatPrompt pack_prompt(const entry::Pack& pack);

class PackShelf {
 public:
  void set_packs(std::vector<entry::Pack> packs) { packs_ = std::move(packs); }
  const std::vector<entry::Pack>& packs() const { return packs_; }
  const entry::Pack* find(const std::string& id) const;
  void set_tokens(ModelId model, const std::string& id, std::uint32_t tokens) { facts_[model][id].tokens = tokens; }
  void set_node(ModelId model, const std::string& id, NodeId node) { facts_[model][id].node = node; }
  void follow(NodeId gone, NodeId instead);  // the node's place was taken by another one
  void forget(ModelId model) { facts_.erase(model); }
  // As the model of this id knows them, whose tree is `cache`; null: no model.
  std::vector<PackInfo> infos(ModelId model, const kv::PrefixCache* cache) const;

 private:
  struct Facts {
    std::uint32_t tokens = 0;
    NodeId node{};
  };
  const Facts* facts_of(ModelId model, const std::string& id) const;

  std::vector<entry::Pack> packs_;
  std::unordered_map<ModelId, std::unordered_map<std::string, Facts>> facts_;
};

}  // namespace larder::engine
