// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/snapshot_builder.h"

#include <unordered_set>

#include "kernels/layout/kv_kept.h"
#include "runtime/engine/loop.h"

namespace larder::engine {
namespace {

constexpr Ticks kRateWindowNs = 5'000'000'000;

}  // namespace

SnapshotBuilder::SnapshotBuilder(Services& services, WallTime started) : services_(services), started_(started) {}

void SnapshotBuilder::add_tree(Snapshot& all, const Sources& from, std::uint64_t epoch) {
  TreeVersions versions;
  for (const auto& model : from.models.all()) {
    versions.emplace_back(model->generation(), model->cache().tree_version());
  }
  const std::uint64_t ram_version = from.disk.ram_version();
  if (tree_ && versions == tree_versions_ && ram_version == ram_version_) {
    all.tree = tree_;
    return;
  }
  const std::vector<BlockKey> in_ram = from.disk.ram_keys();
  auto tree = std::make_shared<std::vector<TreeNode>>();
  from.entries.sweep([&](NodeId node) { return from.models.of(node) != nullptr; });
  const std::vector<entry::Entry> entries = from.entries.list();
  std::unordered_map<NodeId, std::string> names;
  for (const entry::Entry& entry : entries) names[entry.node] = entry.name;
  for (const auto& model : from.models.all()) {
    const double row_ns = model->scheduler().rates().prefill_row_ns();
    const bool on_device = model->pool_tier() == "device";
    std::unordered_map<kv::ChainKey, std::string, DigestHash> runs;  // the names of tokens, whatever their lineage
    for (const entry::Entry& entry : entries) {
      const kv::BlockFacts end = model->cache().facts(entry.node);
      if (end.node.value != 0) runs.emplace(end.key, entry.name);
    }
    for (const kv::TreeRow& row : model->cache().describe(model->cache().cold_among(in_ram))) {
      TreeNode node = tree_node(row, *model->loaded(), row_ns, on_device);
      if (const auto name = names.find(row.id); name != names.end()) {
        node.label = name->second;
      } else if (row.foreign || row.lineage != kernels::KvScheme::kExact) {
        const auto run = runs.find(model->cache().facts(row.id).key);
        if (run != runs.end()) node.label = run->second;
      }
      tree->push_back(std::move(node));
    }
  }
  tree_ = std::move(tree);
  tree_versions_ = std::move(versions);
  ram_version_ = ram_version;
  tree_epoch_ = epoch;
  all.tree = tree_;
}

TreeNode tree_node(const kv::TreeRow& row, const LoadedModel& model, double row_ns, bool on_device) {
  TreeNode node;
  node.id = row.id;
  node.parent = row.parent;
  node.tenant = row.owner.value;
  node.model = model.id.value;
  node.first_position = row.first_position;
  node.tokens = row.tokens;
  node.blocks = row.blocks;
  const std::uint32_t first_cold = row.first_position + row.resident_blocks * kernels::kBlockTokens;
  node.bytes = row.resident_blocks * model.layout.block_bytes() +
               kernels::kept_bytes(row.lineage, first_cold, row.blocks - row.resident_blocks, model.layout);
  (on_device ? node.device_blocks : node.host_blocks) = row.resident_blocks;
  node.disk_blocks = row.blocks - row.resident_blocks;
  node.stored_blocks = row.stored_blocks;
  node.ram_blocks = row.ram_blocks;
  node.ram_bytes = kernels::kept_bytes(row.lineage, row.ram_position, row.ram_blocks, model.layout);
  node.pinned = row.pinned;
  node.in_use = row.in_use;
  node.growing = row.growing;
  node.hits = row.hits;
  node.created = row.created;
  node.last_hit = row.last_hit;
  node.compute_ms = row.tokens * row_ns * 1e-6;
  node.made_by = row.made_by;
  node.label = row.label;
  node.lineage = kv::lineage_name(row.lineage, row.foreign);
  return node;
}

void SnapshotBuilder::add_pool(Snapshot& all, const ResidentModel& model) {
  const PoolInfo part = model.pool_info();
  PoolInfo& sum = all.pool;
  sum.blocks_total += part.blocks_total;
  sum.blocks_free += part.blocks_free;
  sum.blocks_cached += part.blocks_cached;
  sum.blocks_in_use += part.blocks_in_use;
  sum.blocks_pinned += part.blocks_pinned;
  sum.block_bytes = part.block_bytes;
  sum.evicted_blocks += part.evicted_blocks;
  sum.tree_nodes += part.tree_nodes;
  sum.bytes_total += part.bytes_total;
  sum.bytes_taken += part.bytes_taken;
  sum.bytes_pinned += part.bytes_pinned;
  for (const kv::PinRecord& pin : model.cache().pins()) {
    all.pins.push_back({pin.id, pin.node, pin.owner, pin.reason, pin.blocks, pin.blocks * part.block_bytes, pin.created,
                        pin.expires});
  }
}

void SnapshotBuilder::add_cache(Snapshot& all, const Sources& from, std::uint64_t epoch) {
  add_tree(all, from, epoch);
  all.pool.evicted_blocks = from.models.past().evicted_blocks;
  all.pool.budget_bytes = from.models.kv_bytes();
  all.pool.pin_budget_bytes = from.models.pin_budget_bytes();
  for (const auto& model : from.models.all()) add_pool(all, *model);
  std::unordered_set<NodeId> pinned;
  for (const TreeNode& node : *all.tree) {
    if (node.pinned) pinned.insert(node.id);
  }
  for (const entry::Entry& entry : from.entries.list()) {
    const ResidentModel* model = from.models.of(entry.node);
    if (model == nullptr) continue;
    const std::uint64_t blocks = (entry.tokens + kernels::kBlockTokens - 1) / kernels::kBlockTokens;
    all.entries.push_back({entry.id, entry.node, entry.tenant, entry.name, entry.tokens, blocks * model->block_bytes(),
                           pinned.count(entry.node) != 0, entry.hits, entry.saved_ms});
  }
}

void SnapshotBuilder::add_store(Snapshot& all, const DiskTier& disk) {
  const DiskTierState state = disk.state();
  const storage::StoreCounters& counters = state.counters;
  StoreInfo& store = all.store;
  store.used = state.used;
  store.reason = state.reason;
  store.mode = state.mode;
  store.blocks = counters.blocks;
  store.bytes_on_disk = counters.bytes_on_disk;
  store.cap_bytes = counters.cap_bytes;
  store.keep_free_bytes = counters.keep_free_bytes;
  store.pinned_blocks = counters.pinned_blocks;
  store.queued_blocks = counters.queued_puts;
  store.queued_bytes = counters.queued_put_bytes;
  store.lag_ms = counters.lag_ms;
  store.stored_blocks = counters.stored_blocks;
  store.written_bytes = counters.written_bytes;
  store.read_blocks = counters.read_blocks;
  store.read_bytes = counters.read_bytes;
  store.evicted_blocks = counters.evicted_blocks;
  for (const std::uint64_t refused : counters.refused) store.refused_blocks += refused;
  for (const std::uint64_t missed : counters.missed) store.missed_reads += missed;
  store.read_bytes_per_s = counters.read_bytes_per_s;
  store.write_bytes_per_s = counters.write_bytes_per_s;
  store.budget_bytes = counters.budget_bytes;
  store.budget_spent = counters.budget_spent;
  store.damaged_blocks = counters.damaged_blocks;
  store.failed_io = counters.failed_writes + counters.failed_reads;
  store.last_failure = counters.last_failure;
  store.io_path = counters.io_path;
  store.cipher = counters.cipher;
  store.codec = state.codec;
  store.codec_note = state.codec_note;
  store.codec_error = state.codec_error;
  for (const kernels::KvScheme scheme : {kernels::KvScheme::kInt8, kernels::KvScheme::kInt4}) {
    store.rounded_blocks += state.counters.by_scheme[static_cast<std::size_t>(scheme)].blocks;
    store.rounded_bytes += state.counters.by_scheme[static_cast<std::size_t>(scheme)].bytes;
  }
  store.restored_blocks = state.restored_blocks;
  store.restored_tokens = state.restored_tokens;
  store.restore_ms = state.restore_ms;
  store.declined_slower = state.declined_slower;
  store.declined_room = state.declined_room;
  store.declined_late = state.declined_late;
  store.declined_damaged = state.declined_damaged;
  store.declined_stalled = state.declined_stalled;
  store.unlisted_blocks = state.unlisted_blocks;
  store.ram_blocks = counters.ram_blocks;
  store.ram_bytes = counters.ram_bytes;
  store.ram_cap_bytes = counters.ram_cap_bytes;
  store.ram_reads = counters.ram_reads;
  store.ram_damaged = counters.ram_damaged;
  store.ram_bytes_per_s = counters.ram_bytes_per_s;
  store.mixed_restores = state.mixed_restores;
}

void SnapshotBuilder::add_tenants(Snapshot& all, const Sources& from) const {
  struct Use {
    std::uint64_t blocks = 0;
    std::uint64_t bytes = 0;
    std::uint64_t pinned_bytes = 0;
  };
  std::unordered_map<TenantId, Use> uses;
  for (const auto& model : from.models.all()) {
    for (const kv::TenantUse& each : model->cache().use_by_tenant()) {
      Use& use = uses[each.tenant];
      use.blocks += each.blocks;
      use.bytes += each.blocks * model->block_bytes();
      use.pinned_bytes += each.pinned * model->block_bytes();
    }
  }
  for (const tenant::TenantRecord& record : services_.registry.tenants()) {
    TenantInfo info;
    info.id = record.id;
    info.name = record.name;
    info.quota_bytes = record.quota_bytes;
    info.foreign = record.foreign;
    const Use& use = uses[record.id];
    info.blocks = use.blocks;
    info.bytes = use.bytes;
    info.pinned_bytes = use.pinned_bytes;
    if (const auto totals = from.requests.totals().find(record.id); totals != from.requests.totals().end()) {
      info.requests = totals->second.requests;
      info.prompt_tokens = totals->second.prompt_tokens;
      info.cached_tokens = totals->second.cached_tokens;
      info.running = totals->second.running;
      info.queued = totals->second.queued;
    }
    all.tenants.push_back(std::move(info));
  }
  const std::shared_ptr<const tenant::KeyTable> keys = services_.registry.keys();
  for (const auto& [id, key] : keys->records()) {
    all.keys.push_back(
        {id, key.tenant, key.prefix, key.label, key.admin, key.created, services_.registry.last_used(id)});
  }
}

void SnapshotBuilder::add_history(Snapshot& all, const Sources& from) const {
  from.history.set_levels(all.at, all.pool.blocks_total - all.pool.blocks_free, all.pool.blocks_pinned,
                          all.pool.evicted_blocks);
  for (const observe::IntervalSums& sums : from.history.intervals(all.at)) {
    Interval interval;
    interval.begin = sums.begin;
    interval.requests = sums.requests;
    interval.full_prefix = sums.full_prefix;
    interval.prompt_tokens = sums.prompt_tokens;
    interval.cached_tokens = sums.cached_tokens;
    interval.completion_tokens = sums.completion_tokens;
    interval.evicted_blocks = sums.evicted_blocks;
    interval.blocks_used = sums.blocks_used;
    interval.blocks_pinned = sums.blocks_pinned;
    interval.saved_ms = sums.saved_ms;
    interval.warm_p50_ms = sums.warm_p50_ms;
    interval.warm_p99_ms = sums.warm_p99_ms;
    interval.cold_p50_ms = sums.cold_p50_ms;
    interval.cold_p99_ms = sums.cold_p99_ms;
    all.history.push_back(interval);
  }
}

void SnapshotBuilder::measure(Snapshot& all, const Sources& from) {
  all.resident_bytes = read_memory_facts().resident;
  observe::Levels levels;
  levels.prefill_rows = from.models.past().prefill_rows;
  levels.decode_rows = from.models.past().decode_rows;
  levels.steps = from.models.past().steps;
  for (const auto& model : from.models.all()) {
    const sched::SchedulerCounts counts = model->scheduler().counts();
    levels.prefill_rows += counts.prefill_rows;
    levels.decode_rows += counts.decode_rows;
    levels.steps += counts.steps;
  }
  if (const ResidentModel* newest = from.models.newest()) {
    all.prefill_tokens_per_s = newest->scheduler().rates().prefill_tokens_per_s();
    const Ticks now = services_.clock.now();
    if (!decode_marks_.empty() && levels.decode_rows < decode_marks_.back().second) decode_marks_.clear();
    decode_marks_.emplace_back(now, levels.decode_rows);
    while (decode_marks_.size() > 2 && decode_marks_.front().first < now - kRateWindowNs) decode_marks_.pop_front();
    const double seconds = ms_between(decode_marks_.front().first, now) * 1e-3;
    if (seconds > 0) {
      all.decode_tokens_per_s = static_cast<double>(levels.decode_rows - decode_marks_.front().second) / seconds;
    }
  }
  levels.blocks_total = all.pool.blocks_total;
  levels.blocks_free = all.pool.blocks_free;
  levels.blocks_cached = all.pool.blocks_cached;
  levels.blocks_in_use = all.pool.blocks_in_use;
  levels.blocks_pinned = all.pool.blocks_pinned;
  levels.block_bytes = all.pool.block_bytes;
  levels.evicted_blocks = all.pool.evicted_blocks;
  levels.running = all.running;
  levels.queued = all.queued;
  levels.prefill_tokens_per_s = all.prefill_tokens_per_s;
  levels.resident_bytes = all.resident_bytes;
  levels.ready = from.models.newest() != nullptr;
  services_.metrics.set_levels(levels);
}

std::shared_ptr<const SnapshotState> SnapshotBuilder::build(const Sources& from) {
  auto state = std::make_shared<SnapshotState>();
  Snapshot& all = state->all;
  all.epoch = ++epoch_;
  all.at = services_.clock.wall();
  all.started = started_;
  all.version = kVersion;
  if (!from.models.all().empty()) all.device = from.models.all().back()->device().description;
  all.models = from.models.infos();
  add_cache(all, from, epoch_);
  add_store(all, from.disk);
  add_tenants(all, from);
  const ResidentModel* newest = from.models.newest();
  all.packs = newest == nullptr ? from.packs.infos({}, nullptr) : from.packs.infos(newest->id(), &newest->cache());
  all.jobs.assign(from.jobs.all().begin(), from.jobs.all().end());
  all.broken_promises = from.promises.broken();
  all.last_broken_promise = from.promises.last_broken();
  all.running = from.requests.running();
  all.queued = from.requests.queued();
  measure(all, from);
  add_history(all, from);
  state->requests = from.requests.publish(epoch_);
  state->tree_epoch = tree_epoch_;
  return state;
}

}  // namespace larder::engine
