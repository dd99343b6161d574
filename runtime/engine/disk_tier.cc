// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/disk_tier.h"

#include <algorithm>

#include "runtime/base/invariant.h"
#include "runtime/base/log.h"
#include "runtime/engine/block_mover.h"
#include "runtime/engine/listed_tree.h"
#include "runtime/engine/loop.h"

namespace larder::engine {
namespace {

using settings::Key;
using storage::StoreEvent;

storage::StoreLimits limits_of(const settings::Settings& settings) {
  storage::StoreLimits limits;
  limits.cap_bytes = static_cast<std::uint64_t>(settings.integer(Key::kStoreCapBytes));
  limits.keep_free_bytes = static_cast<std::uint64_t>(settings.integer(Key::kStoreKeepFreeBytes));
  limits.write_budget_bytes = static_cast<std::uint64_t>(settings.integer(Key::kStoreWriteBudgetBytes));
  limits.ram_bytes = static_cast<std::uint64_t>(settings.integer(Key::kStoreRamBytes));
  return limits;
}

storage::StoreMode mode_of(const settings::Settings& settings) {
  const std::string word = settings.text(Key::kStoreMode);
  if (word == "frozen") return storage::StoreMode::kFrozen;
  return word == "bypass" ? storage::StoreMode::kBypassed : storage::StoreMode::kOn;
}

}  // namespace

DiskTier::DiskTier(Services& services) : services_(services) {}
DiskTier::~DiskTier() { close(); }

void DiskTier::open() {
  apply_settings();
  if (services_.settings.text(Key::kStoreMode) == "off") {
    reason_ = "store.mode is off";
    return;
  }
  std::vector<storage::StoreScope> scopes;
  for (const tenant::Scope& scope : services_.registry.all_scopes()) {
    scopes.push_back({scope->id(), scope->secret()});
    scopes_.insert(scope->id());
  }
  const auto inbox = services_.inbox;
  const auto woken = woken_;
  const auto wake = [inbox, woken] {
    if (!woken->exchange(true)) inbox->nudge();
  };
  struct Made {
    std::unique_ptr<storage::Disk> disk;
    Result<std::unique_ptr<storage::BlockStore>> store = out_of_memory();
  };
  const auto made = std::make_shared<Made>();
  const auto answer = std::make_shared<LoopInbox::Place>(LoopTask([this, made](EngineLoop&) {
    disk_ = std::move(made->disk);
    opened(std::move(made->store));
  }));
  const auto open_it = [scopes, wake, made, mode = mode_, &services = services_] {
    storage::StoreConfig config;
    config.folder = services.data_dir;
    config.limits = limits_of(services.settings);
    config.mode = mode;
    config.codec = exec::kv_codec();
    Result<std::unique_ptr<storage::Disk>> disk = services.open_disk();
    if (!disk.ok()) {
      made->store = disk.error();
      return;
    }
    made->disk = std::move(disk).value();
    made->store = storage::BlockStore::open(std::move(config), scopes, *made->disk, services.clock, wake);
  };
  opening_ = services_.loader.post([open_it, inbox, answer] {
    static_cast<void>(had_memory([&open_it] { open_it(); }));
    inbox->push_reserved(std::move(*answer));
  });
  if (!opening_) reason_ = "the loader was busy";
}

void DiskTier::opened(Result<std::unique_ptr<storage::BlockStore>> store) {
  opening_ = false;
  if (store.ok()) {
    store_ = std::move(store).value();
    reason_.clear();
    scopes_due_ = true;
  } else {
    Error why = std::move(store).error();
    static_cast<void>(had_memory([&why] { log::warning("store", "the disk tier is not used: " + to_string(why)); }));
    reason_ = std::move(why.message);
  }
  for (ColdTier* tier : tiers_) tier->store_opened();
}

void DiskTier::close() {
  store_.reset();
  events_.clear();
  next_event_ = 0;
  for (ColdTier* tier : tiers_) tier->store_closed();
  if (mover_ != nullptr) mover_->store_closed();
  disk_.reset();
}

void DiskTier::join(ColdTier& tier) {
  INVARIANT(tier.owner() != 0 && owner_of(tickets_of(tier.owner())) == nullptr);
  tiers_.push_back(&tier);
}

void DiskTier::leave(ColdTier& tier) { std::erase(tiers_, &tier); }

ColdTier* DiskTier::owner_of(std::uint64_t ticket) const {
  const auto found = std::find_if(tiers_.begin(), tiers_.end(),
                                  [&](const ColdTier* tier) { return tier->owner() == ticket >> kOwnerShift; });
  return found == tiers_.end() ? nullptr : *found;
}

void DiskTier::tick() {
  short_of_memory_ = !had_memory([this] {
    if (settings_due_) apply_settings();
    if (scopes_due_) learn_scopes();
    if (!to_shred_.empty()) shred_due();
    take_events();
  });
  for (ColdTier* tier : tiers_) {
    if (!had_memory([tier] { tier->tick(); })) short_of_memory_ = true;
  }
}

// Each handler can be called once more with the same event where it was broken off.
void DiskTier::take_events() {
  if (store_ == nullptr) return;
  if (woken_->exchange(false)) events_due_ = true;
  if (next_event_ == events_.size() && events_due_) {
    events_.clear();
    next_event_ = 0;
    store_->drain(events_);
    events_due_ = false;
    const storage::StoreCounters counters = store_->counters();
    if (counters.read_bytes_per_s > 0) read_bytes_per_s_ = counters.read_bytes_per_s;
    if (counters.ram_bytes_per_s > 0) ram_bytes_per_s_ = counters.ram_bytes_per_s;
  }
  for (; next_event_ < events_.size(); ++next_event_) on_event(events_[next_event_]);
}

void DiskTier::on_event(const StoreEvent& event) {
  if (event.kind == StoreEvent::Kind::kEvicted) {
    for (ColdTier* tier : tiers_) tier->lost_below(event.key);
    return;
  }
  if (!event.error.empty()) log::warning("store", event.error);
  if (ColdTier* tier = owner_of(event.ticket)) tier->on_event(event);
}

void DiskTier::listed(std::uint64_t ticket, std::shared_ptr<ListedTree> tree) {
  if (ColdTier* tier = owner_of(ticket)) tier->chained(ticket, std::move(tree));
}

void DiskTier::sync_pins() {
  for (ColdTier* tier : tiers_) tier->sync_pins();
}

bool DiskTier::busy() const {
  const bool any = std::any_of(tiers_.begin(), tiers_.end(), [](const ColdTier* tier) { return tier->busy(); });
  return any && !short_of_memory_;
}

bool DiskTier::waiting() const {
  const bool any = std::any_of(tiers_.begin(), tiers_.end(), [](const ColdTier* tier) { return tier->waiting(); });
  return any || short_of_memory_;
}

bool DiskTier::drained() {
  bool all = true;
  for (ColdTier* tier : tiers_) all = tier->drained() && all;
  return all;
}

bool DiskTier::has_named(std::uint64_t identity_record) const {
  return std::any_of(tiers_.begin(), tiers_.end(),
                     [identity_record](const ColdTier* tier) { return tier->has_named(identity_record); });
}

void DiskTier::learn_scopes() {
  scopes_due_ = store_ != nullptr;
  if (!scopes_due_) return;
  for (const tenant::Scope& scope : services_.registry.all_scopes()) {
    if (scopes_.contains(scope->id())) continue;
    store_->add_scope({scope->id(), scope->secret()});
    scopes_.insert(scope->id());
  }
  scopes_due_ = false;
}

void DiskTier::shred(const ScopeId& scope) {
  to_shred_.push_back(scope);
  scopes_.erase(scope);
  if (!had_memory([this] { shred_due(); })) short_of_memory_ = true;
}

void DiskTier::shred_due() {
  if (opening_) return;
  for (; !to_shred_.empty(); to_shred_.pop_back()) {
    if (store_ != nullptr) store_->shred(to_shred_.back(), next_ticket_++);
  }
}

// The store's mode changes with ours and needs no memory: it would refuse for good what we think it takes.
void DiskTier::apply_settings() {
  settings_due_ = true;
  const storage::StoreMode mode = mode_of(services_.settings);
  if (store_ != nullptr) store_->set_mode(mode);
  mode_ = mode;
  always_ = services_.settings.text(Key::kStoreRestore) == "always";
  ram_bytes_ = static_cast<std::uint64_t>(services_.settings.integer(Key::kStoreRamBytes));
  for (ColdTier* tier : tiers_) tier->apply_settings();
  if (store_ != nullptr) store_->set_limits(limits_of(services_.settings));
  settings_due_ = false;
}

Status DiskTier::usable() const {
  if (store_ == nullptr) {
    return Error{ErrorCode::kUnavailable, "the disk tier is not used: " + reason_, "store.mode"};
  }
  if (mode_ == storage::StoreMode::kBypassed) {
    return Error{ErrorCode::kConflict, "the disk tier is bypassed: set store.mode to on, or to frozen", "store.mode"};
  }
  return {};
}

std::vector<BlockKey> DiskTier::ram_keys() const {
  return keeps_in_ram() ? store_->ram_keys() : std::vector<BlockKey>();
}

Ticks DiskTier::store_cpu_ns() const { return store_ == nullptr ? 0 : store_->counters().cpu_ns; }

DiskTierState DiskTier::state() const {
  DiskTierState state = totals_;
  state.used = store_ != nullptr;
  state.reason = reason_;
  state.mode = services_.settings.text(Key::kStoreMode);
  state.codec = kernels::kv_scheme_name(kernels::KvScheme::kExact);
  if (!tiers_.empty()) {
    const Lineages& lineages = tiers_.back()->lineages();
    const kernels::KvScheme chosen =
        lineages.chosen() == nullptr ? kernels::KvScheme::kExact : lineages.chosen()->lineage;
    state.codec = kernels::kv_scheme_name(chosen);
    state.codec_note = lineages.note();
    state.codec_error = lineages.sampled_error(chosen);
  }
  if (store_ != nullptr) state.counters = store_->counters();
  for (const ColdTier* tier : tiers_) state.unlisted_blocks += tier->unlisted_blocks();
  return state;
}

}  // namespace larder::engine
