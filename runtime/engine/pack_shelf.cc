// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/pack_shelf.h"

#include <algorithm>

namespace larder::engine {

ChatPrompt pack_prompt(const entry::Pack& pack) {
  ChatPrompt prompt;
  ChatMessage system;
  system.role = "system";
  system.content = pack.text;
  ChatMessage user;
  user.role = "user";
  user.content = "?";
  prompt.messages = {std::move(system), std::move(user)};
  return prompt;
}

const entry::Pack* PackShelf::find(const std::string& id) const {
  const auto found = std::find_if(packs_.begin(), packs_.end(), [&](const entry::Pack& pack) { return pack.id == id; });
  return found == packs_.end() ? nullptr : &*found;
}

void PackShelf::follow(NodeId gone, NodeId instead) {
  for (auto& [model, packs] : facts_) {
    for (auto& [id, facts] : packs) {
      if (facts.node == gone) facts.node = instead;
    }
  }
}

const PackShelf::Facts* PackShelf::facts_of(ModelId model, const std::string& id) const {
  const auto known = facts_.find(model);
  if (known == facts_.end()) return nullptr;
  const auto facts = known->second.find(id);
  return facts == known->second.end() ? nullptr : &facts->second;
}

std::vector<PackInfo> PackShelf::infos(ModelId model, const kv::PrefixCache* cache) const {
  std::vector<PackInfo> infos;
  const std::vector<kv::PinRecord> pins = cache == nullptr ? std::vector<kv::PinRecord>{} : cache->pins();
  for (const entry::Pack& pack : packs_) {
    PackInfo info{pack.id, pack.name, pack.language, pack.text, pack.version, 0, false, false, {}};
    const Facts* facts = facts_of(model, pack.id);
    if (facts != nullptr && cache != nullptr) {
      info.tokens = facts->tokens;
      info.warm = facts->node.value != 0 && cache->locate(facts->node).ok();
      if (info.warm) info.node = facts->node;
      info.pinned = info.warm && std::any_of(pins.begin(), pins.end(),
                                             [&](const kv::PinRecord& pin) { return pin.node == facts->node; });
    }
    infos.push_back(std::move(info));
  }
  return infos;
}

}  // namespace larder::engine
