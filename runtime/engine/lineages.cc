// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/lineages.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "kernels/layout/kv_kept.h"
#include "runtime/base/invariant.h"
#include "runtime/base/log.h"

namespace larder::engine {
namespace {

using kernels::KvScheme;

constexpr std::array kRounded{KvScheme::kInt8, KvScheme::kInt4};

std::size_t index_of(KvScheme scheme) { return static_cast<std::size_t>(scheme); }

}  // namespace

double Lineages::bound(kernels::KvScheme scheme) {
  switch (scheme) {
    case kernels::KvScheme::kExact:
      return 0;
    case kernels::KvScheme::kInt8:
      return 0.03;
    case kernels::KvScheme::kInt4:
      return 0.20;
  }
  return 0;
}

std::size_t Lineages::place_of(KvScheme scheme, bool by_name) {
  return index_of(scheme) + (by_name ? std::size_t{kernels::kKvSchemes} : 0);
}

void Lineages::attach(const std::shared_ptr<const kv::Identity>& exact, const kernels::KvLayout& layout,
                      const kernels::KvCodecKernels& codec) {
  INVARIANT(exact != nullptr && exact->weights_known);
  *this = Lineages();
  layout_ = layout;
  known_[place_of(KvScheme::kExact, false)] = {exact, kv::identity_digest(*exact)};
  for (const KvScheme scheme : kRounded) {
    Result<exec::KvRoundTrip> trip = exec::KvRoundTrip::create(codec, scheme, layout);
    if (!trip.ok()) {
      samplers_[index_of(scheme)].fault = trip.error().message;
      continue;
    }
    samplers_[index_of(scheme)].trip = std::make_unique<exec::KvRoundTrip>(std::move(trip).value());
    for (const bool by_name : {false, true}) {
      auto rounded = std::make_shared<kv::Identity>(*exact);
      rounded->lineage = scheme;
      rounded->by_name = by_name;
      known_[place_of(scheme, by_name)] = {rounded, kv::identity_digest(*rounded)};
    }
  }
}

void Lineages::choose(KvScheme scheme) {
  INVARIANT(known_[0].identity != nullptr);
  chosen_.reset();
  note_.clear();
  if (scheme == KvScheme::kExact) return;
  const Sampler& sampler = samplers_[index_of(scheme)];
  note_ = sampler.fault.empty() ? sampler.refusal : sampler.fault;
  if (note_.empty()) chosen_ = known_[place_of(scheme, false)].identity;
}

Result<std::shared_ptr<const kv::Identity>> Lineages::named(KvScheme scheme) const {
  INVARIANT(known_[0].identity != nullptr && scheme != KvScheme::kExact);
  const Sampler& sampler = samplers_[index_of(scheme)];
  if (!sampler.fault.empty()) return Error{ErrorCode::kUnsupported, sampler.fault, "scheme"};
  if (!sampler.refusal.empty()) return Error{ErrorCode::kConflict, sampler.refusal, "scheme"};
  return known_[place_of(scheme, true)].identity;
}

std::vector<std::shared_ptr<const kv::Identity>> Lineages::readable() const {
  std::vector<std::shared_ptr<const kv::Identity>> all;
  for (const KvScheme scheme : kRounded) {
    const auto& named = known_[place_of(scheme, true)].identity;
    if (named != nullptr) all.push_back(named);
    if (chosen_ != nullptr && chosen_->lineage == scheme) all.push_back(chosen_);
  }
  return all;
}

std::shared_ptr<const kv::Identity> Lineages::add_foreign(const kv::Identity& stored) {
  const Digest256 digest = kv::identity_digest(stored);
  const auto known = std::find(foreign_digests_.begin(), foreign_digests_.end(), digest);
  if (known != foreign_digests_.end()) return foreign_[static_cast<std::size_t>(known - foreign_digests_.begin())];
  if (foreign_.size() == kMaxForeign) return nullptr;
  foreign_.reserve(kMaxForeign);
  foreign_digests_.reserve(kMaxForeign);
  auto identity = std::make_shared<kv::Identity>(stored);
  identity->foreign = static_cast<std::uint8_t>(foreign_.size() + 1);
  foreign_digests_.push_back(digest);
  foreign_.push_back(identity);
  return identity;
}

std::vector<Digest256> Lineages::rounded_digests() const {
  std::vector<Digest256> digests;
  for (const Known& known : known_) {
    if (known.identity != nullptr && known.identity->lineage != KvScheme::kExact) digests.push_back(known.digest);
  }
  return digests;
}

const std::shared_ptr<const kv::Identity>& Lineages::identity_of(KvScheme scheme, bool by_name) const {
  const Known& known = known_[place_of(scheme, by_name)];
  INVARIANT(known.identity != nullptr);
  return known.identity;
}

const Digest256& Lineages::digest_of(const kv::Identity& identity) const {
  if (identity.foreign != 0) return foreign_digests_.at(identity.foreign - 1);
  const Known& known = known_[place_of(identity.lineage, identity.by_name)];
  INVARIANT(known.identity != nullptr);
  return known.digest;
}

void Lineages::name(storage::StoredBlock& stored, const kv::ColdBlock& cold) const {
  const Known& known = known_[place_of(cold.lineage, cold.by_name)];
  INVARIANT(known.identity != nullptr);
  const KvScheme scheme = kernels::kept_scheme(cold.lineage, cold.first_position);
  stored.identity = cold.foreign == 0 ? known.digest : foreign_digests_.at(cold.foreign - 1);
  stored.scheme = static_cast<std::uint32_t>(scheme);
  stored.slice_count = static_cast<std::uint32_t>(layout_.slice_count());
  stored.slice_bytes = static_cast<std::uint32_t>(kernels::coded_slice_bytes(scheme, layout_));
}

std::shared_ptr<const kv::PromptKeys> Lineages::keys_under(const std::shared_ptr<const kv::PromptKeys>& keys,
                                                           const std::shared_ptr<const kv::Identity>& identity) {
  if (keys->identity == identity) return keys;
  auto other = std::make_shared<kv::PromptKeys>(*keys);
  other->identity = identity;
  return other;
}

bool Lineages::sample(const kv::Identity& lineage, std::uint32_t first_position, std::span<const std::byte> block,
                      std::uint32_t valid_tokens) {
  const KvScheme scheme = lineage.lineage;
  Sampler& sampler = samplers_[index_of(scheme)];
  INVARIANT(sampler.trip != nullptr);
  if (!sampler.refusal.empty()) return false;
  if (kernels::kept_scheme(scheme, first_position) != scheme || sampler.passed++ % kSampleEvery != 0) return true;
  const std::size_t first = sampler.passed / kSampleEvery % kSliceStep;
  const exec::KvLoss loss = sampler.trip->measure(block, valid_tokens, first, kSliceStep);
  const double error = std::max(loss.k.relative(), loss.v.relative());
  ++sampler.samples;
  sampler.error_sum += error;
  if (std::isfinite(error) && error <= bound(scheme)) return true;
  refuse(scheme, error);
  return false;
}

void Lineages::refuse(KvScheme scheme, double error) {
  std::string& refusal = samplers_[index_of(scheme)].refusal;
  refusal = std::string(kernels::kv_scheme_name(scheme)) + " lost " + std::to_string(error * 100) +
            " % of a sampled block, more than it may: blocks are stored exact until the model is loaded again";
  log::warning("store", refusal);
  if (chosen_ == nullptr || chosen_->lineage != scheme) return;
  note_ = refusal;
  chosen_.reset();
}

double Lineages::sampled_error(KvScheme scheme) const {
  const Sampler& sampler = samplers_[index_of(scheme)];
  return sampler.samples > 0 ? sampler.error_sum / sampler.samples : 0;
}

}  // namespace larder::engine
