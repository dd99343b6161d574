// SPDX-License-Identifier: Apache-2.0
// ColdTier and lineages: which blocks go down rounded, and which prompts may look for those, or for what another
// arithmetic computed.
#include <algorithm>
#include <utility>

#include "kernels/layout/kv_kept.h"
#include "runtime/engine/block_mover.h"
#include "runtime/engine/cold_tier.h"
#include "runtime/kv/room_for.h"

namespace larder::engine {
namespace {

kernels::KvScheme scheme_of(const std::string& word) {
  if (word == kernels::kv_scheme_name(kernels::KvScheme::kInt8)) return kernels::KvScheme::kInt8;
  if (word == kernels::kv_scheme_name(kernels::KvScheme::kInt4)) return kernels::KvScheme::kInt4;
  return kernels::KvScheme::kExact;
}

}  // namespace

void ColdTier::choose_lineage() {
  if (!lineages_.attached()) return;
  kv::room_for(to_list_, 1);
  const std::shared_ptr<const kv::Identity> before = lineages_.chosen();
  lineages_.choose(scheme_of(services_.settings.text(settings::Key::kStoreCodec)));
  if (lineages_.chosen() == before || lineages_.chosen() == nullptr) return;
  to_list_.push_back(lineages_.chosen());  // what was rounded so before is found again
  adopting_ = true;
}

// What another arithmetic of this load has computed is listed once some tenant may reuse it.
void ColdTier::choose_foreign() {
  foreign_tenants_.clear();
  for (const tenant::TenantRecord& tenant : services_.registry.tenants()) {
    if (tenant.foreign) foreign_tenants_.insert(tenant.id);
  }
  if (foreign_tenants_.empty()) return;
  for (; !foreign_found_.empty(); foreign_found_.erase(foreign_found_.begin())) {
    kv::room_for(to_list_, 1);
    const auto identity = lineages_.add_foreign(foreign_found_.front());
    if (identity == nullptr) continue;
    to_list_.push_back(identity);
    adopting_ = true;
  }
}

// The block as it is kept below. Rounded, it has a name of its own; what is pinned, or was rounded before, stays as it
// is.
kv::ColdBlock ColdTier::kept_as(const kv::UnstoredBlock& block, std::span<const std::byte> bytes, Writing& writing) {
  const std::shared_ptr<const kv::Identity> lineage = lineages_.chosen();
  const bool as_it_is = lineage == nullptr || block.cold.pinned || block.cold.lineage != kernels::KvScheme::kExact;
  if (as_it_is || !lineages_.sample(*lineage, block.cold.first_position, bytes, block.cold.valid)) return block.cold;
  writing.rounded = cache_.under(block.node, *lineage);
  return writing.rounded->cold;
}

ColdTier::Taken ColdTier::round_block(NodeId node, const std::shared_ptr<const kv::Identity>& lineage) {
  if (!storing()) return Taken::kNo;
  if (writing_.size() >= kUndurable || !lost_.empty()) return Taken::kLater;
  const kv::BlockFacts block = cache_.facts(node);
  if (block.resident() && block.sealed) {
    Moving from;
    from.node = node;
    from.rounds = lineage;
    from.buffer = disk_.buffers().take(executor_.layout().block_bytes());
    if (from.buffer == nullptr) return Taken::kLater;
    if (!executor_.read_block(block.block, *from.buffer).ok()) return Taken::kNo;
    return put_rounded(std::move(from), block.checksum);
  }
  const std::optional<kv::ColdBlock> copy = cache_.stored_block(node);
  if (!copy) return Taken::kNo;
  Moving moving;
  moving.node = node;
  moving.rounds = lineage;
  return get_moving(*copy, std::move(moving));
}

// kLater too where a sample has just shown that the scheme loses too much: it is not asked for again then.
ColdTier::Taken ColdTier::put_rounded(Moving from, std::uint64_t checksum) {
  Writing writing;
  writing.node = from.node;
  writing.lineage = from.rounds;
  writing.rounded = cache_.under(from.node, *from.rounds);
  if (!writing.rounded) return Taken::kNo;
  const kv::ColdBlock& cold = writing.rounded->cold;
  if (!lineages_.sample(*from.rounds, cold.first_position, *from.buffer, cold.valid)) return Taken::kLater;
  writing.name = {cold.scope, cold.key};
  writing.label = cold.label;
  writing.buffer = std::move(from.buffer);
  storage::PutBlock put;
  put.block = stored(cold);
  put.block.pinned = false;
  put.checksum = checksum;
  return give_to_store(put, std::move(writing));
}

// Where memory runs out, it is read once more.
void ColdTier::on_read_to_round(Moving moving, storage::Miss miss, std::uint64_t checksum) {
  Rounded what;
  what.node = moving.node;
  what.miss = miss;
  if (miss == storage::Miss::kNone) {
    Taken taken = Taken::kLater;
    static_cast<void>(had_memory([&] { taken = put_rounded(std::move(moving), checksum); }));
    if (taken == Taken::kYes) return;
    what.again = true;
  }
  if (disk_.mover() != nullptr) disk_.mover()->rounded(what);
}

void ColdTier::tell_mover(const Writing& done, storage::Refusal refusal) {
  if (disk_.mover() == nullptr) return;
  if (!done.rounded) return disk_.mover()->written(done.node, refusal);
  if (!done.lineage->by_name) return;
  Rounded what;
  what.node = done.node;
  what.refusal = refusal;
  disk_.mover()->rounded(what);
}

void ColdTier::sample_rounding(std::span<const NodeId> nodes, kernels::KvScheme scheme) {
  const auto lineage = lineages_.named(scheme);
  if (!lineage.ok() || lineages_.sampled_error(scheme) > 0) return;
  for (const NodeId node : nodes) {
    const kv::BlockFacts block = cache_.facts(node);
    const bool fits = block.resident() && block.sealed && kernels::kept_scheme(scheme, block.first_position) == scheme;
    if (!fits) continue;
    const CopyBuffers::Lent buffer = disk_.buffers().take(executor_.layout().block_bytes());
    if (buffer == nullptr) return;
    const bool read = executor_.read_block(block.block, *buffer).ok();
    if (read) static_cast<void>(lineages_.sample(**lineage, block.first_position, *buffer, block.valid));
    return;
  }
}

// A durable copy: does the tree know of it now? A rounded one is a cold node of its own, unless what it was made of was
// deleted meanwhile.
bool ColdTier::known_below(const Writing& done) {
  if (!done.rounded) return cache_.mark_stored(done.node);
  return cache_.scope_of(done.node).has_value() && cache_.adopt({&*done.rounded, 1}, done.lineage) == 1;
}

// Exact, unless rounded copies, or foreign ones where the tenant may use them, reach further by what is worth reading.
std::shared_ptr<const kv::PromptKeys> ColdTier::keys_for(const sched::SequenceSpec& spec) {
  std::shared_ptr<const kv::PromptKeys> best = Lineages::keys_under(spec.keys, identity_);
  if (!identity_->weights_known || !spec.read || spec.score_prompt || spec.exact) return best;
  const auto restore = restores_.find(spec.seq.value);
  const bool reads_no_more = !disk_.serves() || (restore != restores_.end() && restore->second.done);
  const auto reach = [&](const kv::PromptKeys& keys) {
    const kv::Outlook outlook = cache_.outlook(*spec.prompt, keys);
    return reads_no_more ? outlook.cached_tokens : outlook.known_tokens;
  };
  std::uint32_t furthest = reach(*best);
  const auto look_under = [&](const std::shared_ptr<const kv::Identity>& identity) {
    if (!cache_.has_root(spec.keys->root, identity)) return;
    std::shared_ptr<const kv::PromptKeys> other = Lineages::keys_under(spec.keys, identity);
    const std::uint32_t reached = reach(*other);
    if (reached < furthest + kWorthTokens) return;
    furthest = reached;
    best = std::move(other);
  };
  for (const auto& identity : lineages_.readable()) look_under(identity);
  if (foreign_tenants_.contains(spec.tenant)) {
    for (const auto& identity : lineages_.foreign()) look_under(identity);
  }
  return best;
}

}  // namespace larder::engine
