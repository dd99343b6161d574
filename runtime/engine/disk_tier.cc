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
    if (woken->exchange(true)) return;
    inbox->push_reserved([](EngineLoop& loop) { loop.disk().take_events(); });
  };
  opening_ = services_.loader.post([this, scopes, inbox, wake, mode = mode_, &services = services_] {
    storage::StoreConfig config;
    config.folder = services.data_dir;
    config.limits = limits_of(services.settings);
    config.mode = mode;
    config.codec = exec::kv_codec();
    using Opened = std::pair<std::unique_ptr<storage::Disk>, Result<std::unique_ptr<storage::BlockStore>>>;
    auto made = std::make_shared<Opened>(nullptr, Error{});
    Result<std::unique_ptr<storage::Disk>> disk = services.open_disk();
    if (disk.ok()) {
      made->first = std::move(disk).value();
      made->second = storage::BlockStore::open(std::move(config), scopes, *made->first, services.clock, wake);
    } else {
      made->second = disk.error();
    }
    inbox->push_reserved([this, made](EngineLoop&) {
      disk_ = std::move(made->first);
      opened(std::move(made->second));
    });
  });
  if (!opening_) reason_ = "the loader was busy";
}

void DiskTier::opened(Result<std::unique_ptr<storage::BlockStore>> store) {
  opening_ = false;
  if (store.ok()) {
    store_ = std::move(store).value();
    reason_.clear();
    learn_scopes();
  } else {
    reason_ = store.error().message;
    log::warning("store", "the disk tier is not used: " + to_string(store.error()));
  }
  for (ColdTier* tier : tiers_) tier->store_opened();
}

void DiskTier::close() {
  store_.reset();
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
  for (ColdTier* tier : tiers_) tier->tick();
}

void DiskTier::take_events() {
  woken_->store(false);
  if (store_ == nullptr) return;
  events_.clear();
  store_->drain(events_);
  const storage::StoreCounters counters = store_->counters();
  if (counters.read_bytes_per_s > 0) read_bytes_per_s_ = counters.read_bytes_per_s;
  if (counters.ram_bytes_per_s > 0) ram_bytes_per_s_ = counters.ram_bytes_per_s;
  for (const StoreEvent& event : events_) on_event(event);
}

void DiskTier::on_event(const StoreEvent& event) {
  if (event.kind == StoreEvent::Kind::kEvicted) {
    for (ColdTier* tier : tiers_) tier->lost_below(event.key);
    return;
  }
  if (event.kind == StoreEvent::Kind::kDone && !event.error.empty()) log::warning("store", event.error);
  if (ColdTier* tier = owner_of(event.ticket)) tier->on_event(event);
}

void DiskTier::listed(std::uint64_t ticket, ListedTree tree) {
  if (ColdTier* tier = owner_of(ticket)) tier->chained(ticket, std::move(tree));
}

void DiskTier::sync_pins() {
  for (ColdTier* tier : tiers_) tier->sync_pins();
}

bool DiskTier::busy() const {
  return std::any_of(tiers_.begin(), tiers_.end(), [](const ColdTier* tier) { return tier->busy(); });
}

bool DiskTier::waiting() const {
  return std::any_of(tiers_.begin(), tiers_.end(), [](const ColdTier* tier) { return tier->waiting(); });
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

std::unique_ptr<DiskTier::Buffer> DiskTier::take_buffer(std::size_t bytes) {
  if (!has_buffer(bytes)) return nullptr;
  bytes_out_ += bytes;
  if (buffers_.empty()) return std::make_unique<Buffer>(bytes);
  std::unique_ptr<Buffer> buffer = std::move(buffers_.back());
  buffers_.pop_back();
  bytes_kept_ -= buffer->capacity();
  buffer->resize(bytes);
  return buffer;
}

void DiskTier::give_buffer(std::unique_ptr<Buffer> buffer) {
  if (buffer == nullptr) return;
  bytes_out_ -= buffer->size();
  if (bytes_kept_ + buffer->capacity() > kStagingBytes) return;
  bytes_kept_ += buffer->capacity();
  buffers_.push_back(std::move(buffer));
}

void DiskTier::learn_scopes() {
  if (store_ == nullptr) return;
  for (const tenant::Scope& scope : services_.registry.all_scopes()) {
    if (scopes_.insert(scope->id()).second) store_->add_scope({scope->id(), scope->secret()});
  }
}

void DiskTier::shred(const ScopeId& scope) {
  scopes_.erase(scope);
  if (store_ != nullptr) store_->shred(scope, next_ticket_++);
}

void DiskTier::apply_settings() {
  mode_ = mode_of(services_.settings);
  always_ = services_.settings.text(Key::kStoreRestore) == "always";
  ram_bytes_ = static_cast<std::uint64_t>(services_.settings.integer(Key::kStoreRamBytes));
  for (ColdTier* tier : tiers_) tier->apply_settings();
  if (store_ == nullptr) return;
  store_->set_limits(limits_of(services_.settings));
  store_->set_mode(mode_);
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
