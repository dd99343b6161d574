// SPDX-License-Identifier: Apache-2.0
#include "runtime/entry/entry_book.h"

#include <algorithm>

namespace larder::entry {
namespace {

// Where the parts end that requests share: the last section of each leading kind.
struct Border {
  std::uint32_t token_end = 0;
  std::string name;
};

std::vector<Border> borders(const std::vector<Section>& sections) {
  std::vector<Border> found;
  std::uint32_t tools = 0;
  for (const Section& section : sections) {
    if (section.kind == SectionKind::kMessage) break;
    if (section.kind == SectionKind::kTemplate) continue;
    std::string name = section.label;
    if (section.kind == SectionKind::kTool) {
      name = "tools (" + std::to_string(++tools) + ")";
      if (!found.empty() && found.back().name.rfind("tools (", 0) == 0) found.pop_back();
    }
    found.push_back({section.token_end, std::move(name)});
  }
  return found;
}

std::string conversation_name(const std::vector<Section>& sections) {
  const auto messages =
      std::count_if(sections.begin(), sections.end(), [](const Section& s) { return s.kind == SectionKind::kMessage; });
  return messages <= 1 ? "prompt" : "conversation of " + std::to_string(messages) + " messages";
}

}  // namespace

void EntryBook::put(const EntryFacts& facts, NodeId node, std::uint32_t tokens, const std::string& name) {
  const auto found = by_node_.find(node);
  if (found == by_node_.end() && by_node_.size() >= kMaxEntries) {
    by_node_.erase(std::min_element(by_node_.begin(), by_node_.end(), [](const auto& a, const auto& b) {
      return a.second.last_used < b.second.last_used;
    }));
  }
  Entry& entry = by_node_[node];
  if (entry.id.value == 0) {
    entry.id = EntryId{next_id_++};
    entry.node = node;
    entry.tenant = facts.tenant;
    entry.name = name;
  }
  entry.tokens = tokens;
  entry.last_used = facts.now;
  if (facts.reused_tokens >= tokens && facts.reused_tokens > 0) {
    ++entry.hits;
    entry.saved_ms += facts.saved_ms * tokens / facts.reused_tokens;
  }
}

void EntryBook::note(const EntryFacts& facts) {
  if (facts.path.empty()) return;
  for (const Border& border : borders(facts.sections)) {
    // The run that covers most of the part: the last one that ends inside it.
    const kv::TreeRow* last = nullptr;
    for (const kv::TreeRow& row : facts.path) {
      if (row.first_position + row.tokens <= border.token_end) last = &row;
    }
    if (last != nullptr) put(facts, last->id, last->first_position + last->tokens, border.name);
  }
  const kv::TreeRow& end = facts.path.back();
  put(facts, end.id, end.first_position + end.tokens,
      facts.label.empty() ? conversation_name(facts.sections) : facts.label);
}

std::optional<EntryId> EntryBook::bring_back(Entry entry) {
  if (by_node_.size() >= kMaxEntries || by_node_.count(entry.node) != 0) return std::nullopt;
  entry.id = EntryId{next_id_++};
  const EntryId id = entry.id;
  by_node_[entry.node] = std::move(entry);
  return id;
}

void EntryBook::follow(NodeId gone, NodeId instead) {
  auto entry = by_node_.extract(gone);
  if (entry.empty()) return;
  entry.mapped().id = EntryId{next_id_++};  // whoever keeps it keeps where it ends too
  entry.mapped().node = instead;
  entry.key() = instead;
  by_node_.erase(instead);
  by_node_.insert(std::move(entry));
}

void EntryBook::sweep(const std::function<bool(NodeId)>& exists) {
  for (auto it = by_node_.begin(); it != by_node_.end();) {
    it = exists(it->first) ? std::next(it) : by_node_.erase(it);
  }
}

void EntryBook::forget_tenant(TenantId tenant) {
  for (auto it = by_node_.begin(); it != by_node_.end();) {
    it = it->second.tenant == tenant ? by_node_.erase(it) : std::next(it);
  }
}

void EntryBook::clear() { by_node_.clear(); }

std::vector<Entry> EntryBook::list() const {
  std::vector<Entry> all;
  for (const auto& [node, entry] : by_node_) all.push_back(entry);
  std::sort(all.begin(), all.end(), [](const Entry& a, const Entry& b) {
    return a.last_used != b.last_used ? a.last_used > b.last_used : a.id > b.id;
  });
  return all;
}

}  // namespace larder::entry
