// SPDX-License-Identifier: Apache-2.0
// ColdTier and store.codec: which blocks go down rounded, and which prompts may look for them.
#include "runtime/engine/cold_tier.h"

namespace larder::engine {
namespace {

kernels::KvScheme scheme_of(const std::string& word) {
  if (word == kernels::kv_scheme_name(kernels::KvScheme::kInt8)) return kernels::KvScheme::kInt8;
  if (word == kernels::kv_scheme_name(kernels::KvScheme::kInt4)) return kernels::KvScheme::kInt4;
  return kernels::KvScheme::kExact;
}

}  // namespace

void ColdTier::choose_lineage() {
  if (!identity_->weights_known) return;
  const std::shared_ptr<const kv::Identity> before = lineages_.chosen();
  lineages_.choose(scheme_of(services_.settings.text(settings::Key::kStoreCodec)));
  if (lineages_.chosen() == before || lineages_.chosen() == nullptr) return;
  to_list_.push_back(lineages_.chosen());  // what was rounded so before is found again
}

// The block as it is kept below. Rounded, it has a name of its own; what is pinned, or was rounded before, stays as it
// is.
kv::ColdBlock ColdTier::kept_as(const kv::UnstoredBlock& block, std::span<const std::byte> bytes, Writing& writing) {
  const std::shared_ptr<const kv::Identity> lineage = lineages_.chosen();
  const bool as_it_is = lineage == nullptr || block.cold.pinned || block.cold.lineage != kernels::KvScheme::kExact;
  if (as_it_is || !lineages_.sample(bytes, block.cold.valid)) return block.cold;
  writing.rounded = cache_.under(block.node, *lineage);
  return writing.rounded->cold;
}

// A durable copy: does the tree know of it now? A rounded one is a cold node of its own, unless what it was made of was
// deleted meanwhile.
bool ColdTier::known_below(const Writing& done) {
  if (!done.rounded) return cache_.mark_stored(done.node);
  return cache_.scope_of(done.node).has_value() && cache_.adopt({&*done.rounded, 1}, done.lineage) == 1;
}

// Exact, unless the rounded copies reach further by what is worth reading.
std::shared_ptr<const kv::PromptKeys> ColdTier::keys_for(const sched::SequenceSpec& spec) {
  std::shared_ptr<const kv::PromptKeys> exact = Lineages::keys_under(spec.keys, identity_);
  if (lineages_.chosen() == nullptr || !spec.read || spec.score_prompt) return exact;
  std::shared_ptr<const kv::PromptKeys> rounded = Lineages::keys_under(spec.keys, lineages_.chosen());
  const auto restore = restores_.find(spec.seq.value);
  const bool reads_no_more = !disk_.serves() || (restore != restores_.end() && restore->second.done);
  const auto reach = [&](const kv::PromptKeys& keys) {
    const kv::Outlook outlook = cache_.outlook(*spec.prompt, keys);
    return reads_no_more ? outlook.cached_tokens : outlook.known_tokens;
  };
  return reach(*rounded) >= reach(*exact) + kWorthTokens ? rounded : exact;
}

}  // namespace larder::engine
