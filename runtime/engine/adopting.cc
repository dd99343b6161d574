// SPDX-License-Identifier: Apache-2.0
// ColdTier, after a start: what lies on disk for each lineage is listed, its keys are made again on the loader, and it
// becomes cold nodes of the tree, slice by slice. Each part can be done once more where memory ran out in it.
#include <algorithm>
#include <string>
#include <utility>

#include "runtime/base/log.h"
#include "runtime/engine/cold_tier.h"
#include "runtime/engine/listed_tree.h"
#include "runtime/engine/loop.h"
#include "runtime/engine/stored_entries.h"
#include "runtime/engine/stored_identities.h"
#include "runtime/kv/room_for.h"

namespace larder::engine {
namespace {

constexpr std::size_t kAdoptedPerTurn = 2000;

}  // namespace

void ColdTier::begin(std::function<void()> ready) {
  ready_ = std::move(ready);
  if (!identity_->weights_known) return ready_now();
  identity_known();
}

void ColdTier::store_opened() {
  if (disk_.store() != nullptr) requests_.emplace(*disk_.store(), next_ticket_);
}

void ColdTier::identity_known() {
  attach_due_ = true;
  adopting_ = true;
  adopt_slice();
}

void ColdTier::attach() {
  lineages_.attach(identity_, executor_.layout(), exec::kv_codec());
  to_list_.clear();
  choose_lineage();
  to_list_.push_back(identity_);
  attach_due_ = false;
}

void ColdTier::apply_settings() {
  choose_lineage();
  choose_foreign();
  adopt_slice();
}

void ColdTier::ready_now() {
  if (const auto ready = std::exchange(ready_, nullptr)) ready();
}

// What lies on disk for one lineage after the other, and at first of other identities too.
void ColdTier::adopt_slice() {
  if (!adopting_) return;
  if (attach_due_) attach();
  if (list_ticket_ != 0 || disk_.opening()) return;
  if (tree_ != nullptr) adopt_tree();
  if (tree_ != nullptr || (!to_list_.empty() && list_next())) return;
  to_list_.clear();
  all_adopted();
  adopting_ = false;
  ready_now();
}

// False: there is nothing to be had.
bool ColdTier::list_next() {
  const std::uint64_t ticket = next_ticket_++;
  if (!disk_.serves() || !disk_.store()->list(std::nullopt, std::nullopt, ticket)) return false;
  list_ticket_ = ticket;
  return true;
}

void ColdTier::give_up_listing(const char* why) {
  list_ticket_ = 0;
  to_list_.clear();
  static_cast<void>(had_memory([why] {
    log::warning("store", std::string(why) + ": what lies on disk is found after the next load");
  }));
  adopt_slice();
}

// Its keys are made again on the loader: two hashes a block.
void ColdTier::on_listed(const storage::StoreEvent& event) {
  if (event.ticket != list_ticket_) return;
  if (event.listing == nullptr) return give_up_listing("the disk tier's catalog could not be listed");
  const auto tree = std::make_shared<std::shared_ptr<ListedTree>>();
  const auto answer = std::make_shared<LoopInbox::Place>(LoopTask(
      [ticket = event.ticket, tree](EngineLoop& loop) { loop.disk().listed(ticket, std::move(*tree)); }));
  const auto make = [tree, listing = event.listing, identity = *to_list_.front(),
                     scopes = services_.registry.all_scopes(), most = max_cold_nodes(services_.settings)] {
    *tree = std::make_shared<ListedTree>(listed_tree(*listing, scopes, identity, most));
  };
  const bool posted = services_.loader.post([make, answer, inbox = services_.inbox] {
    static_cast<void>(had_memory([&make] { make(); }));
    inbox->push_reserved(std::move(*answer));
  });
  if (!posted) return give_up_listing("the loader was busy");
  records_ = event.listing;
}

// tree: null where the loader had no memory for it.
void ColdTier::chained(std::uint64_t ticket, std::shared_ptr<ListedTree> tree) {
  if (ticket != list_ticket_) return;
  list_ticket_ = 0;
  if (tree == nullptr) return give_up_listing("memory ran out");
  tree_ = std::move(tree);
  tree_begun_ = false;
  adopted_ = 0;
  adopt_slice();
}

void ColdTier::adopt_tree() {
  if (!tree_begun_) begin_tree();
  const std::span<const kv::ChainedBlock> blocks = tree_->blocks;
  const std::size_t count = std::min(kAdoptedPerTurn, blocks.size() - adopted_);
  cache_.adopt(blocks.subspan(adopted_, count), to_list_.front());
  adopted_ += count;
  if (adopted_ < blocks.size()) return;
  if (to_list_.front() == identity_) exact_records_ = records_;
  records_ = nullptr;
  tree_ = nullptr;
  to_list_.erase(to_list_.begin());
}

// What a listing says beside the blocks of its lineage.
void ColdTier::begin_tree() {
  const std::vector<std::shared_ptr<const kv::Identity>> readable = lineages_.readable();
  kv::room_for(lost_, tree_->lost.size());
  if (to_list_.front() == identity_) {
    cache_.note_others(tree_->others);
    // Another model that is here may have named its identity and have no block there just now.
    std::erase_if(tree_->stale_identities, [this](const auto& each) { return disk_.has_named(each.second); });
    identities_->drop(tree_->stale_identities, *requests_);
    if (!tree_->foreign.empty()) foreign_found_ = std::exchange(tree_->foreign, {});
    choose_foreign();
    kv::room_for(to_list_, readable.size());
    for (const auto& named : readable) {
      const auto& there = tree_->by_name;
      const bool lies_there = std::find(there.begin(), there.end(), named->lineage) != there.end();
      if (named->by_name && lies_there) to_list_.push_back(named);
    }
  }
  lost_.insert(lost_.end(), tree_->lost.begin(), tree_->lost.end());
  left_out_ += tree_->left_out;
  tree_begun_ = true;
}

// Pins and entries may end at blocks of any lineage.
void ColdTier::all_adopted() {
  if (exact_records_ == nullptr) return;
  pins_.bring_back(exact_records_->records, cache_, *requests_, services_.clock.wall());
  ready_now();  // begins with an empty book
  entry_records_->bring_back(exact_records_->records, cache_, entries_, *requests_,
                             [this](TenantId tenant) { return services_.registry.scopes(tenant).ok(); });
  exact_records_ = nullptr;
}

}  // namespace larder::engine
