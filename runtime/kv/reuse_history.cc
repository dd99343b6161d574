// SPDX-License-Identifier: Apache-2.0
#include "runtime/kv/reuse_history.h"

#include <algorithm>

namespace larder::kv {

void ReuseHistory::unlink_tail(const BlockKey& key, const Ghost& ghost) {
  if (ghost.tail.empty()) return;
  const auto found = tails_.find(ghost.parent);
  if (found == tails_.end()) return;
  std::erase(found->second, key);
  if (found->second.empty()) tails_.erase(found);
}

void ReuseHistory::add_ghost(const BlockKey& key, Ghost ghost) {
  drop_ghost(key);
  if (!ghost.tail.empty()) {
    std::vector<BlockKey>& siblings = tails_[ghost.parent];
    if (siblings.size() >= kMaxTailsPerParent) {
      ghosts_.erase(siblings.front());
      siblings.erase(siblings.begin());
    }
    siblings.push_back(key);
  }
  const std::uint64_t turn = ++turn_;
  ghosts_.emplace(key, Kept{std::move(ghost), turn});
  ghost_order_.emplace_back(key, turn);
  // Entries whose ghost was dropped or renewed meanwhile are skipped; they never outnumber the live ones for long.
  while (ghosts_.size() > max_ghosts_ || ghost_order_.size() > 2 * max_ghosts_ + 16) {
    const auto [oldest, its_turn] = ghost_order_.front();
    ghost_order_.pop_front();
    const auto found = ghosts_.find(oldest);
    if (found == ghosts_.end() || found->second.turn != its_turn) continue;
    unlink_tail(oldest, found->second.ghost);
    ghosts_.erase(found);
  }
}

void ReuseHistory::drop_ghost(const BlockKey& key) {
  const auto found = ghosts_.find(key);
  if (found == ghosts_.end()) return;
  unlink_tail(key, found->second.ghost);
  ghosts_.erase(found);
}

const Ghost* ReuseHistory::find_ghost(const BlockKey& key) const {
  const auto found = ghosts_.find(key);
  return found == ghosts_.end() ? nullptr : &found->second.ghost;
}

std::pair<const Ghost*, std::uint32_t> ReuseHistory::find_tail_ghost(const BlockKey& parent,
                                                                     std::span<const Token> tokens) const {
  std::pair<const Ghost*, std::uint32_t> best{nullptr, 0};
  const auto found = tails_.find(parent);
  if (found == tails_.end()) return best;
  for (const BlockKey& key : found->second) {
    const Ghost& ghost = ghosts_.at(key).ghost;
    const auto differ = std::mismatch(ghost.tail.begin(), ghost.tail.end(), tokens.begin(), tokens.end());
    const auto common = static_cast<std::uint32_t>(differ.first - ghost.tail.begin());
    if (common > best.second) best = {&ghost, common};
  }
  return best;
}

void ReuseHistory::mark(const BlockKey& neutral, const ScopeId& scope, std::shared_ptr<const Identity> identity) {
  Mark& mark = marks_[neutral];
  mark.scope = scope;
  mark.identity = std::move(identity);
  mark.turn = ++turn_;
  mark_order_.emplace_back(neutral, mark.turn);
  while (marks_.size() > max_marks_ || mark_order_.size() > 2 * max_marks_ + 16) {
    const auto [oldest, its_turn] = mark_order_.front();
    mark_order_.pop_front();
    const auto found = marks_.find(oldest);
    if (found != marks_.end() && found->second.turn == its_turn) marks_.erase(found);
  }
}

const Identity* ReuseHistory::find_mark(const BlockKey& neutral) const {
  const auto found = marks_.find(neutral);
  return found == marks_.end() ? nullptr : found->second.identity.get();
}

void ReuseHistory::forget_scope(const ScopeId& scope) {
  for (auto entry = ghosts_.begin(); entry != ghosts_.end();) {
    if (entry->second.ghost.scope == scope) {
      unlink_tail(entry->first, entry->second.ghost);
      entry = ghosts_.erase(entry);
    } else {
      ++entry;
    }
  }
  std::erase_if(marks_, [&scope](const auto& entry) { return entry.second.scope == scope; });
  std::erase_if(ghost_order_, [this](const auto& entry) { return !ghosts_.contains(entry.first); });
  std::erase_if(mark_order_, [this](const auto& entry) { return !marks_.contains(entry.first); });
}

}  // namespace larder::kv
