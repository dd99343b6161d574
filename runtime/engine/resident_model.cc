// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/resident_model.h"

#include <algorithm>
#include <utility>

#include "runtime/base/log.h"
#include "runtime/engine/loop.h"
#include "runtime/model/digest.h"
#include "storage/placement.h"

namespace larder::engine {
namespace {

using settings::Key;

constexpr std::uint32_t kStepHeadroomBlocks = 96;  // rows of the largest step, and a batch of answers

ModelInfo info_of(const LoadedModel& loaded, const exec::DeviceInfo& device) {
  ModelInfo info;
  info.id = loaded.id;
  info.name = loaded.name;
  info.path = loaded.model->path();
  info.architecture = loaded.model->config().architecture;
  info.quantisation = loaded.model->quantisation();
  info.file_bytes = loaded.model->file_bytes();
  info.weight_bytes = loaded.model->weight_bytes();
  info.kv_bytes_per_token = loaded.layout.block_bytes() / kernels::kBlockTokens;
  info.n_context = loaded.model->config().n_context;
  info.max_request_tokens = loaded.bounds->max_request_tokens;
  info.progress = 1;
  info.arithmetic_id = device.arithmetic_id;
  info.device = device.device;
  info.error = loaded.chat_error;
  info.has_chat_template = loaded.chat != nullptr;
  return info;
}

}  // namespace

ResidentModel::ResidentModel(const Shared& shared, std::uint64_t generation, LoadedParts parts,
                             std::unique_ptr<exec::Executor> executor)
    : services_(shared.services),
      generation_(generation),
      identity_(std::move(parts.identity)),
      executor_(std::move(executor)),
      most_blocks_(std::max(parts.executor.most_blocks, parts.executor.block_count)) {
  identity_->arithmetic_id = executor_->info().arithmetic_id;
  parts.model.identity = identity_;
  loaded_ = std::make_shared<const LoadedModel>(std::move(parts.model));
  kv::CacheOptions cache;
  cache.block_count = executor_->block_count();
  cache.longest_request_blocks = longest_request_blocks();
  cache.clock = &services_.clock;
  cache.history = &shared.history;
  cache.ids = &shared.ids;
  cache.tier = pool_tier();
  cache.lower_tier = true;
  cache.max_cold_nodes = max_cold_nodes(services_.settings);
  cache_ = std::make_unique<kv::PrefixCache>(std::move(cache), std::make_unique<storage::LeafLru>());
  pool_limit_ = std::make_unique<PoolLimit>(*cache_, *executor_, services_.clock);
  cold_ = std::make_unique<ColdTier>(
      services_, shared.disk, ColdTier::Parts{generation_, *cache_, *executor_, identity_, shared.entries});
  scheduler_ = std::make_unique<sched::Scheduler>(*cache_, shared.sink, services_.clock, limits());
  scheduler_->set_tier_gate(cold_.get());
  apply_settings();
  used();
}

ResidentModel::~ResidentModel() { close(); }

void ResidentModel::begin(std::function<void()> ready) {
  cold_->begin([this, ready = std::move(ready)] {
    ready_ = true;
    start_hashing();
    log::info("engine", "model ready: " + loaded_->name + ", pool of " + std::to_string(pool_limit_->blocks()) +
                            " blocks, " + executor_->info().arithmetic_id);
    ready();
  });
}

void ResidentModel::start_hashing() {
  if (identity_->weights_known) return;
  const auto hashing = std::make_shared<Hashing>();
  hashing_ = hashing;
  const bool posted =
      services_.hasher.post([hashing, generation = generation_, model = loaded_->model, inbox = services_.inbox,
                             hash = services_.hash_weights, cache = services_.digest_cache] {
        const auto progress = [&hashing](double done) { hashing->progress.store(done); };
        auto digest = std::make_shared<Result<Digest256>>(hash(model->file(), {cache, progress, &hashing->cancel}));
        inbox->push_reserved([generation, digest](EngineLoop& loop) {
          if (ResidentModel* hashed = loop.models().of_generation(generation)) hashed->hashed(*digest);
          loop.want_snapshot();
        });
      });
  if (!posted) digest_error_ = "too many files wait to be hashed: load the model again";
}

void ResidentModel::stop_hashing() {
  if (hashing_) hashing_->cancel.store(true);
}

void ResidentModel::hashed(const Result<Digest256>& digest) {
  if (digest.ok()) {
    identity_->learn_weights(*digest);
    if (!draining_) cold_->identity_known();
    return;
  }
  if (draining_) return;  // it was stopped
  digest_error_ = digest.error().message;
  log::warning("engine", "a model's digest was not computed, its KV stays in memory: " + to_string(digest.error()));
}

sched::SchedulerLimits ResidentModel::limits() const {
  const settings::Settings& settings = services_.settings;
  sched::SchedulerLimits limits;
  limits.max_batch = static_cast<std::uint32_t>(settings.integer(Key::kEngineMaxBatch));
  limits.plan.step_ns = static_cast<double>(settings.integer(Key::kEngineStepMs)) * 1e6;
  limits.plan.alone_rows = static_cast<std::uint32_t>(settings.integer(Key::kEnginePrefillChunk));
  limits.plan.max_rows = kMaxStepRows;
  limits.plan.n_layers = loaded_->model->config().n_layers;
  return limits;
}

void ResidentModel::apply_settings() {
  scheduler_->set_limits(limits());
  for (const tenant::TenantRecord& tenant : services_.registry.tenants()) {
    const std::uint64_t blocks = tenant.quota_bytes / block_bytes();
    cache_->set_quota(tenant.id, static_cast<std::uint32_t>(std::min<std::uint64_t>(blocks, 0xffffffff)));
  }
}

void ResidentModel::abort_running() {
  if (const std::uint64_t step = scheduler_->running_step(); step != 0) executor_->abort(step);
}

PoolShare ResidentModel::pool_share() const {
  const kv::CacheCounts counts = cache_->counts();
  PoolShare share;
  share.block_bytes = block_bytes();
  share.limit = pool_limit_->blocks();
  share.taken = counts.pool.total - counts.pool.free;
  share.kept = std::min(share.taken, share.taken - counts.evictable);
  share.last_use = last_use_;
  if (draining_) return share;
  const sched::RoomNeed need = scheduler_->room_need();
  // What runs comes to its end in the room it has, whatever the budget is now.
  const std::uint32_t most = std::max<std::uint32_t>(loaded_->bounds->pool_blocks, share.limit);
  if (need.running > 0) share.running = std::min(most, counts.pinned + need.running);
  if (need.waiting > 0) share.waiting = std::min(most, counts.pinned + need.waiting);
  if (!settled_) share.headroom = first_blocks();
  if (!scheduler_->idle()) {
    const std::uint32_t steps = std::min(kStepHeadroomBlocks, std::max(need.running, need.waiting));
    share.headroom = std::max(share.headroom, steps);
  }
  return share;
}

// A chunk, or one longest request.
std::uint32_t ResidentModel::first_blocks() const {
  const std::uint64_t budget = loaded_->bounds->pool_blocks * block_bytes();
  return std::max(static_cast<std::uint32_t>(pool_chunk_bytes(budget) / block_bytes()), longest_request_blocks());
}

std::uint32_t ResidentModel::set_pool_limit(std::uint32_t blocks) {
  settled_ = settled_ || blocks >= first_blocks();
  const Status set = pool_limit_->set(std::max(1u, blocks));
  if (!set.ok()) log::warning("engine", "the pool of " + loaded_->name + " was not changed: " + to_string(set.error()));
  return pool_limit_->blocks();
}

Result<PoolPlan> ResidentModel::plan_for(std::uint64_t kv_bytes) const {
  ASSIGN_OR_RETURN(const PoolPlan plan, plan_pool_of(*loaded_, services_.settings, kv_bytes));
  if (plan.blocks <= most_blocks_) return plan;
  return Error{ErrorCode::kResourceExhausted,
               "a pool of " + std::to_string(kv_bytes) + " bytes is more than the " +
                   std::to_string(most_blocks_ * block_bytes()) + " that this machine has for " + loaded_->name +
                   ": choose a smaller one",
               "pool.bytes"};
}

void ResidentModel::follow(const PoolPlan& plan) {
  loaded_->bounds->pool_blocks = plan.blocks;
  loaded_->bounds->max_request_tokens = plan.max_request_tokens;
}

void ResidentModel::bound_pins(std::uint32_t budget_blocks) {
  // Where pins are beyond it already, the bounds they were made under stay.
  static_cast<void>(cache_->set_pin_bounds({loaded_->bounds->pool_blocks, budget_blocks, longest_request_blocks()}));
}

void ResidentModel::begin_drain() {
  draining_ = true;
  stop_hashing();
}

bool ResidentModel::drained() { return scheduler_->running_step() == 0 && scheduler_->idle() && cold_->drained(); }

std::unique_ptr<exec::Executor> ResidentModel::retire() {
  scheduler_.reset();
  cold_.reset();
  pool_limit_.reset();
  cache_->retire("unloaded");
  cache_.reset();
  return std::move(executor_);
}

void ResidentModel::close() {
  stop_hashing();
  executor_.reset();
  scheduler_.reset();
  cold_.reset();
  pool_limit_.reset();
  cache_.reset();
}

PoolInfo ResidentModel::pool_info() const {
  const kv::CacheCounts counts = cache_->counts();
  PoolInfo pool;
  pool.blocks_total = counts.pool.total;
  pool.blocks_free = counts.pool.free;
  pool.blocks_cached = counts.pool.cached;
  pool.blocks_in_use = counts.pool.in_use;
  pool.blocks_pinned = counts.pinned;
  pool.block_bytes = block_bytes();
  pool.pin_budget_bytes = counts.pin_budget * block_bytes();
  pool.evicted_blocks = counts.evicted_blocks;
  pool.tree_nodes = counts.nodes;
  pool.bytes_total = counts.pool.total * block_bytes();
  pool.bytes_taken = (counts.pool.total - counts.pool.free) * block_bytes();
  pool.bytes_pinned = counts.pinned * block_bytes();
  return pool;
}

ModelInfo ResidentModel::info() const {
  ModelInfo info = info_of(*loaded_, device());
  info.pool = pool_info();
  info.state = draining_ ? ModelInfo::State::kUnloading
               : ready_  ? ModelInfo::State::kReady
                         : ModelInfo::State::kLoading;
  info.digest_error = digest_error_;
  if (identity_->weights_known) {
    info.identity = ModelInfo::Identity::kKnown;
    info.digest = model::to_hex(identity_->weights);
  } else if (!info.digest_error.empty()) {
    info.identity = ModelInfo::Identity::kFailed;
  } else if (hashing_) {
    info.digest_progress = hashing_->progress.load();
  }
  return info;
}

}  // namespace larder::engine
