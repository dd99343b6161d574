// SPDX-License-Identifier: Apache-2.0
#include "runtime/kv/reuse_history.h"

#include <algorithm>

namespace larder::kv {
namespace {

// Mostly it is the very one.
bool is_same(const Identity& a, const Identity& b) { return &a == &b || a == b; }

}  // namespace

template <typename Wanted>
ReuseHistory::Ghosts::const_iterator ReuseHistory::find_if(const ChainKey& key, Wanted wanted) const {
  auto [at, end] = ghosts_.equal_range(key);
  while (at != end && !wanted(at->second)) ++at;
  return at == end ? ghosts_.end() : at;
}

void ReuseHistory::unlink_tail(const Kept& kept) {
  if (kept.ghost.tail.empty()) return;
  const auto found = tails_.find(kept.ghost.parent);
  std::erase_if(found->second, [&kept](const Ghosts::value_type* entry) { return &entry->second == &kept; });
  if (found->second.empty()) tails_.erase(found);
}

void ReuseHistory::erase(Ghosts::const_iterator ghost) {
  unlink_tail(ghost->second);
  ghosts_.erase(ghost);
}

void ReuseHistory::link_tail(const Ghosts::value_type& entry) {
  const auto found = tails_.find(entry.second.ghost.parent);
  if (found == tails_.end()) {
    tails_.emplace(entry.second.ghost.parent, std::vector<const Ghosts::value_type*>{&entry});
    return;
  }
  std::vector<const Ghosts::value_type*>& siblings = found->second;
  siblings.push_back(&entry);
  if (siblings.size() <= kMaxTailsPerParent) return;
  const Ghosts::value_type& oldest = *siblings.front();
  erase(find_if(oldest.first, [&oldest](const Kept& kept) { return &kept == &oldest.second; }));
}

void ReuseHistory::add_ghost(const ChainKey& key, Ghost ghost) {
  const std::uint64_t turn = turn_ + 1;
  ghost_order_.emplace_back(key, turn);  // skipped where no ghost follows
  std::vector<Token> tail = std::exchange(ghost.tail, {});
  const std::shared_ptr<const Identity> identity = ghost.identity;
  const auto added = ghosts_.emplace(key, Kept{std::move(ghost), turn});
  turn_ = turn;
  const auto older = find_if(
      key, [&](const Kept& kept) { return kept.turn != turn && is_same(*kept.ghost.identity, *identity); });
  if (older != ghosts_.end()) erase(older);
  if (!tail.empty()) {
    link_tail(*added);
    added->second.ghost.tail = std::move(tail);
  }
  // Entries whose ghost was dropped or renewed meanwhile are skipped; they never outnumber the live ones for long.
  while (ghosts_.size() > max_ghosts_ || ghost_order_.size() > 2 * max_ghosts_ + 16) {
    const auto [oldest, its_turn] = ghost_order_.front();
    ghost_order_.pop_front();
    const auto found = find_if(oldest, [turn = its_turn](const Kept& kept) { return kept.turn == turn; });
    if (found != ghosts_.end()) erase(found);
  }
}

void ReuseHistory::drop_ghost(const ChainKey& key, const Identity& identity) noexcept {
  const auto found = find_if(key, [&identity](const Kept& kept) { return is_same(*kept.ghost.identity, identity); });
  if (found != ghosts_.end()) erase(found);
}

const Ghost* ReuseHistory::find_ghost(const ChainKey& key, const Identity& identity) const {
  const auto found = find_if(key, [&identity](const Kept& kept) { return is_same(*kept.ghost.identity, identity); });
  return found == ghosts_.end() ? nullptr : &found->second.ghost;
}

std::pair<const Ghost*, std::uint32_t> ReuseHistory::find_tail_ghost(const ChainKey& parent, const Identity& identity,
                                                                     std::span<const Token> tokens) const {
  std::pair<const Ghost*, std::uint32_t> best{nullptr, 0};
  const auto found = tails_.find(parent);
  if (found == tails_.end()) return best;
  for (const Ghosts::value_type* entry : found->second) {
    const Ghost& ghost = entry->second.ghost;
    const auto differ = std::mismatch(ghost.tail.begin(), ghost.tail.end(), tokens.begin(), tokens.end());
    const auto common = static_cast<std::uint32_t>(differ.first - ghost.tail.begin());
    if (common > best.second && is_same(*ghost.identity, identity)) best = {&ghost, common};
  }
  return best;
}

void ReuseHistory::mark(const ChainKey& key, const ScopeId& scope, std::shared_ptr<const Identity> identity) {
  mark_order_.emplace_back(key, turn_ + 1);  // skipped where no mark follows
  Mark& mark = marks_[key];
  mark.scope = scope;
  mark.identity = std::move(identity);
  mark.turn = ++turn_;
  while (marks_.size() > max_marks_ || mark_order_.size() > 2 * max_marks_ + 16) {
    const auto [oldest, its_turn] = mark_order_.front();
    mark_order_.pop_front();
    const auto found = marks_.find(oldest);
    if (found != marks_.end() && found->second.turn == its_turn) marks_.erase(found);
  }
}

const Identity* ReuseHistory::find_mark(const ChainKey& key) const {
  const auto found = marks_.find(key);
  return found == marks_.end() ? nullptr : found->second.identity.get();
}

void ReuseHistory::forget_scope(const ScopeId& scope) noexcept {
  for (auto entry = ghosts_.begin(); entry != ghosts_.end();) {
    if (entry->second.ghost.scope == scope) {
      unlink_tail(entry->second);
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
